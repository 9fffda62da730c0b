#!/bin/sh
# debian-packages.sh FOLDER VERSION: Debian's packages of the source in FOLDER, whose folder debian lacks the change log
# and the number of the library's interface (soname), which is the first of the version. lintian must have nothing to say.
set -eu
cd "$1"
# Who releases gives an address (DEBEMAIL, DEBFULLNAME); without one lintian's words on it are let pass.
maintainer="${DEBFULLNAME:-SoftMMA maintainers} <${DEBEMAIL:-softmma@localhost}>"
allowed=initial-upload-closes-no-bugs # no bug of Debian's asks for it
[ -n "${DEBEMAIL-}" ] || allowed=$allowed,bogus-mail-host,bogus-mail-host-in-debian-changelog
sed -i "$(packaging/address.sh)
  s/@SOVERSION@/${2%%.*}/; s/@MAINTAINER@/$maintainer/" debian/control
mv debian/libsoftmma.install "debian/libsoftmma${2%%.*}.install"
cat > debian/changelog <<END
softmma ($2-1) unstable; urgency=medium

  * Release of SoftMMA $2; CHANGELOG.md says what changed.

 -- $maintainer  $(date -uRd "@$SOURCE_DATE_EPOCH")
END
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} noautodbgsym" dpkg-buildpackage -b -us -uc
lintian --fail-on info,warning,error --suppress-tags "$allowed" \
  "../softmma_$2-1_$(dpkg --print-architecture).changes"
