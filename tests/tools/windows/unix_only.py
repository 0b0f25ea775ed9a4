"""What only Unix has: in typeshed, for Python 3.11, on Linux and not on Windows."""

MODULES = {
    *("_posixshmem", "_posixsubprocess", "crypt", "curses", "fcntl", "grp", "nis", "posix", "pty"),
    *("pwd", "readline", "resource", "spwd", "syslog", "termios", "tty"),
}
NAMES = {
    "os": """
        CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED CLD_STOPPED CLD_TRAPPED EX_CANTCREAT
        EX_CONFIG EX_DATAERR EX_IOERR EX_NOHOST EX_NOINPUT EX_NOPERM EX_NOUSER EX_OSERR EX_OSFILE
        EX_PROTOCOL EX_SOFTWARE EX_TEMPFAIL EX_UNAVAILABLE EX_USAGE F_LOCK F_TEST F_TLOCK F_ULOCK
        GRND_NONBLOCK GRND_RANDOM NGROUPS_MAX O_ACCMODE O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY
        O_DSYNC O_LARGEFILE O_NDELAY O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_RSYNC O_SYNC
        O_TMPFILE PRIO_PGRP PRIO_PROCESS PRIO_USER P_ALL P_PGID P_PID P_PIDFD SEEK_DATA SEEK_HOLE
        ST_NOSUID ST_RDONLY WCONTINUED WCOREDUMP WEXITED WEXITSTATUS WIFCONTINUED WIFEXITED
        WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED chown chroot
        confstr confstr_names copy_file_range ctermid environb eventfd eventfd_read eventfd_write
        fchdir fchmod fchown fdatasync fork forkpty fpathconf fstatvfs fwalk get_blocking getegid
        getenvb geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority
        getrandom getresgid getresuid getsid getuid getxattr initgroups killpg lchown listxattr
        lockf login_tty major makedev memfd_create minor mkfifo mknod nice openpty pathconf
        pathconf_names pidfd_open pipe2 posix_fadvise posix_fallocate posix_spawn posix_spawnp pread
        preadv pwrite pwritev readv register_at_fork removexattr sched_get_priority_max
        sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_param
        sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler sched_yield
        sendfile set_blocking setegid seteuid setgid setgroups setpgid setpgrp setpriority setregid
        setresgid setresuid setreuid setsid setuid setxattr spawnlp spawnlpe spawnvp spawnvpe splice
        statvfs sync sysconf sysconf_names tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid
        waitid_result writev
    """,
    "select": """
        EPOLLERR EPOLLET EPOLLHUP EPOLLIN EPOLLONESHOT EPOLLOUT EPOLLPRI EPOLL_CLOEXEC PIPE_BUF
        POLLERR POLLHUP POLLIN POLLMSG POLLNVAL POLLOUT POLLPRI POLLRDBAND POLLRDHUP POLLRDNORM
        POLLWRBAND POLLWRNORM epoll poll
    """,
    "signal": """
        ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL ItimerError SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT
        SIGHUP SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN
        SIGSTKFLT SIGSTOP SIGSYS SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM
        SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK SIG_SETMASK SIG_UNBLOCK Sigmasks alarm getitimer pause
        pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt sigpending
        sigtimedwait sigwait sigwaitinfo struct_siginfo
    """,
    "time": """
        CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME
        CLOCK_TAI CLOCK_THREAD_CPUTIME_ID clock_getres clock_gettime clock_gettime_ns clock_settime
        clock_settime_ns pthread_getcpuclockid tzset
    """,
}
HIDDEN = {module: frozenset(names.split()) for module, names in NAMES.items()}
