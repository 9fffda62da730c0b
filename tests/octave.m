% Compares what the toolbox's functions return in Octave with the results of the command, bit by bit. octave.m is run in
% a folder that has the functions, with the command's name in SOFTMMA. Operands are written as .npy files, and D is read
% from one.
1;

function save_npy(name, x)
  head = sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", rows(x), columns(x));
  head = [head, repmat(' ', 1, 117 - numel(head)), "\n"];
  file = fopen(name, 'w');
  fwrite(file, [147, 'NUMPY', 1, 0, 118, 0], 'uint8');
  fwrite(file, head, 'uint8');
  fwrite(file, x, 'double');
  fclose(file);
end

function x = load_npy(name) % row-major, of the format that its header says
  file = fopen(name, 'r');
  fseek(file, 8, 'bof');
  head = fread(file, fread(file, 1, 'uint16'), '*char')';
  shape = cellfun(@str2double, regexp(head, '\((\d+), (\d+)\)', 'tokens'){1});
  switch regexp(head, '<f\d', 'match'){1}
    case '<f2', x = halves(fread(file, Inf, 'uint16'));
    case '<f4', x = double(fread(file, Inf, '*single'));
    case '<f8', x = fread(file, Inf, 'double');
  end
  x = reshape(x, shape(2), shape(1))';
  fclose(file);
end

function x = halves(code)
  exponent = mod(floor(code / 1024), 32);
  fraction = mod(code, 1024);
  x = (fraction + 1024 * (exponent > 0)) .* 2 .^ (max(exponent, 1) - 25);
  x(exponent == 31 & fraction == 0) = Inf;
  x(exponent == 31 & fraction > 0) = NaN;
  x = x .* (1 - 2 * (code >= 32768));
end

function check(name, informat, outformat, alpha, A, B, beta, C)
  save_npy('A.npy', alpha * A); save_npy('B.npy', B); save_npy('C.npy', beta * C);
  gpu = regexprep(regexprep(name, '^MI300MC$', 'CDNA3'), '(TC|MC)$', '');
  in = regexprep(regexprep(informat, 'fp8-|fp8_', ''), 'binary', 'f');
  command = sprintf(['"%s" gemm --on %s --in %s --out %s A.npy B.npy -C C.npy -o D.npy 2>&1'], ...
    getenv('SOFTMMA'), gpu, strrep(in, 'half', 'f16'), strrep(outformat, 'binary', 'f'));
  [status, said] = system(command);
  if status ~= 0, error('%s\n%s', command, said); end
  expected = load_npy('D.npy');
  got = feval(name, alpha, A, B, beta, C, informat, outformat);
  if ~strcmp(class(got), 'double') || ~isequaln(got, expected) || ~isequal(signbit(got), signbit(expected))
    [i, j] = find(~(got == expected | (isnan(got) & isnan(expected))), 1);
    error('%s, %s, %s: element (%d, %d) is %.17g, the command says %.17g\n%s', name, informat, outformat, i, j, ...
      got(i, j), expected(i, j), command);
  end
  printf('ok  %s %s %s\n', name, informat, outformat);
end

function refuse(pattern, varargin)
  try
    softmma_gemm(varargin{:});
  catch failure
    if isempty(regexp(failure.message, pattern)), error('"%s" does not say "%s"', failure.message, pattern); end
    return
  end
  error('nothing is said of "%s"', pattern);
end

rand('twister', 1);
A = (rand(7, 45) - 0.5) .* 2 .^ floor(20 * rand(7, 45) - 10);
B = (rand(45, 5) - 0.5) .* 2 .^ floor(20 * rand(45, 5) - 10);
C = (rand(7, 5) - 0.5) .* 2 .^ floor(20 * rand(7, 5) - 10);
A(1, :) = -0; C(1, 1:2) = [-0, 0]; A(2, 3) = Inf; B(1, 3) = NaN; A(3, 1) = 2 ^ -140; B(:, 4) = 2 ^ 14;

nvidia = {'A2TC', 'A30TC', 'A100TC', 'AdaTC', 'L40STC', 'H100TC', 'H200TC', 'B200TC', 'RTXPRO6000TC'};
for i = 1:numel(nvidia)
  check(nvidia{i}, 'fp16', 'fp32', 1, A, B, 1, C);
  check(nvidia{i}, 'tf32', 'binary32', 0.75, A, B, -2, C);
  check(nvidia{i}, 'bfloat16', 'single', 1, A, B, 0, C);
end
check('V100TC', 'binary16', 'binary16', 1, A, B, 1, C);
check('H100TC', 'fp8-e4m3', 'fp32', 1, A, B, 1, C);
check('B200TC', 'E5M2', 'fp32', 3, A, B, 1, C);
amd = {'CDNA1', 'CDNA2', 'CDNA3', 'MI100MC', 'MI210MC', 'MI250MC', 'MI300AMC', 'MI300MC', 'MI300XMC'};
for i = 1:numel(amd)
  check(amd{i}, 'half', 'fp32', 1, A, B, 1, C);
end
check('CDNA3', 'e4m3fnuz', 'fp32', 1, A, B, 1, C);

zero = H100TC(1, A, B, 1, zeros(7, 5), 'fp16', 'fp32');
for none = {[], 0}
  if ~isequaln(H100TC(1, A, B, 1, none{1}), zero), error('a C that is not there is not 0'); end
end
if ~isequal(H100TC(1, single([-8192 1 1 1]), [1024; -0.5; -0.25; -0.125], 1, 2 ^ 23), -0.75), error('not -0.75'); end

refuse('A has 45 columns, B 7 rows', 'H100', 1, A, A, 1, [], 'f16', 'f32');
refuse('C is 1 x 1, A B is 7 x 5', 'H100', 1, A, B, 1, 3, 'f16', 'f32');
refuse('unknown format .f99', 'H100', 1, A, B, 1, C, 'f99', 'f32');
refuse('H100x', 'H100x', 1, A, B, 1, C, 'f16', 'f32');
refuse('A: not a real, full matrix', 'H100', 1, A * 1i, B, 1, C, 'f16', 'f32');
refuse('B: not a real, full matrix', 'H100', 1, A, sparse(B), 1, C, 'f16', 'f32');
refuse('alpha: not a real number', 'H100', [1 2], A, B, 1, C, 'f16', 'f32');
refuse('usage: D = softmma_gemm', 'H100');
refuse('scale', 'B200', 1, A, B, 1, C, 'mxfp8', 'f32');
printf('all right\n');
