/* The first process on the computer of tests/avx512_computer.sh: runs /program once for each line of /lines, with the
   words of the line as its arguments, and prints its status. Standard output is the serial port. Switches the computer
   off. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Runs /program with the words of a line, and returns its status, or 128 and the number of the signal that ended it. */
static int run(char *line) {
  char *words[64] = {"program"};
  int count = 1, status;
  for (char *word = strtok(line, " \n"); word && count < 63; word = strtok(NULL, " \n")) words[count++] = word;
  if (fork() == 0) {
    execv("/program", words);
    perror("/program");
    _exit(127);
  }
  while (wait(&status) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void) {
  char line[4096];
  FILE *lines;
  int port;
  if (mount("dev", "/dev", "devtmpfs", 0, NULL) != 0 || (port = open("/dev/ttyS0", O_RDWR)) < 0) return 1;
  for (int i = 0; i < 3; i++) dup2(port, i);
  setvbuf(stdout, NULL, _IONBF, 0);
  lines = fopen("/lines", "r");
  while (lines && fgets(line, sizeof line, lines)) printf("status %d\n", run(line));
  tcdrain(port);
  return reboot(RB_POWER_OFF);
}
