function softmma_make(folder, varargin)
% SOFTMMA_MAKE  Makes the functions of the MATLAB Tensor Core toolbox (Khattak and Mikaitis, 2025) in a folder.
%
%   softmma_make(FOLDER, OPTION...) compiles softmma_gemm there, with the compiler's options ('-I/opt/softmma/include',
%   '-L/opt/softmma/lib', none if the library is in a standard folder), and writes beside it a function for each GPU:
%
%   D = H100TC(alpha, A, B, beta, C, informat, outformat)     D = MI300XMC(alpha, A, B, beta, C, informat)
%
%   for V100, A2, A30, A100, Ada, L40S, H100, H200, B200, RTX PRO 6000; CDNA 1 to 3 and their GPUs. informat is 'fp16'
%   unless it is said, outformat 'fp32'. See docs/packages.md for where they differ from the toolbox's.

  functions = {'V100TC', 'A2TC', 'A30TC', 'A100TC', 'AdaTC', 'L40STC', 'H100TC', 'H200TC', 'B200TC', ...
    'RTXPRO6000TC', 'CDNA1', 'CDNA2', 'CDNA3', 'MI100MC', 'MI210MC', 'MI250MC', 'MI300AMC', 'MI300MC', 'MI300XMC'};
  source = fullfile(fileparts(mfilename('fullpath')), 'softmma_gemm.c');
  mex(varargin{:}, source, '-lsoftmma', '-output', fullfile(folder, 'softmma_gemm'));
  for i = 1:numel(functions)
    gpu = regexprep(regexprep(functions{i}, '^MI300MC$', 'CDNA3'), '(TC|MC)$', '');
    file = fopen(fullfile(folder, [functions{i} '.m']), 'w');
    fprintf(file, 'function D = %s(alpha, A, B, beta, C, informat, outformat)\n', functions{i});
    fprintf(file, '%% %s  D = alpha A B + beta C as %s computes it; softmma_make wrote this.\n', functions{i}, gpu);
    fprintf(file, '  if nargin < 6, informat = ''fp16''; end\n  if nargin < 7, outformat = ''fp32''; end\n');
    fprintf(file, '  D = softmma_gemm(''%s'', ', gpu);
    fprintf(file, 'alpha, double(A), double(B), beta, double(C), informat, outformat);\n');
    fprintf(file, 'end\n');
    fclose(file);
  end
end
