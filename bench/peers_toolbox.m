% The MATLAB toolbox on rows: octave peers_toolbox.m CLONE FOLDER JOBS. FOLDER has, for each of JOBS jobs from 0, N.job
% with a model and its formats, and N.a, N.b, N.c with a row of numbers to a line; N.d and N.seconds are written there.
given = argv();
addpath([given{1} '/models'], [given{1} '/models/tools']);
for n = 0:str2double(given{3}) - 1
  file = @(kind) sprintf('%s/%d.%s', given{2}, n, kind);
  names = strsplit(strtrim(fileread(file('job'))), ' ');
  a = dlmread(file('a'), ' ');
  b = dlmread(file('b'), ' ');
  c = dlmread(file('c'), ' ');
  model = str2func(names{1});
  d = zeros(size(c));
  start = cputime();
  for row = 1:rows(c)
    d(row) = model(1, a(row, :), b(row, :)', 1, c(row), names{2:end});
  end
  seconds = cputime() - start;
  out = fopen(file('d'), 'w');
  fprintf(out, '%.17g\n', d);
  fclose(out);
  out = fopen(file('seconds'), 'w');
  fprintf(out, '%.9g\n', seconds);
  fclose(out);
end
