#!/bin/sh
# address.sh: prints commands of sed that write the repository's address for @ADDRESS@ in the metadata of packages, or
# delete these lines while CITATION.cff has no repository-code.
address=$(sed -n 's/^repository-code: *"\{0,1\}\([^"]*\).*/\1/p' "$(dirname "$0")/../CITATION.cff")
if [ -n "$address" ]; then echo "s#@ADDRESS@#$address#g"; else echo '/@ADDRESS@/d'; fi
