/** What of /proc is covered in every sandbox, because it tells of the host or acts on it, and everybody may read it. */
export const coveredProcPaths: readonly string[] = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  // Everybody may set watches here, of which the kernel ends each in turn: a program with thousands takes minutes to end.
  "/proc/pressure",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/sysrq-trigger",
  "/proc/timer_list",
  "/proc/timer_stats",
];

const maxProcessors = 256;

/** What of /sys is covered where there is a /sys: firmware, and the meters that betray what others compute. */
export const coveredSysPaths: readonly string[] = [
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
  ...Array.from({ length: maxProcessors }, (_, cpu) => `/sys/devices/system/cpu/cpu${cpu}/thermal_throttle`),
];
