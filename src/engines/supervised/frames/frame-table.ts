// Generated from supervisor/frames.json by scripts/write-supervisor-frames.ts.

/** Version of the protocol, which both ends must have. */
export const protocolVersion = 1;

/** Bounds of the protocol. */
export const frameLimits = {
  /** payload of one frame; with its header 64 KiB */
  maxPayloadBytes: 65_524,
  /** length u32, type u8, zero u8, epoch u16, stream u32 */
  headerBytes: 12,
  /** streams that live at once */
  maxStreams: 256,
  /** accepted connections that live at once; others wait */
  maxAccepted: 64,
  /** numbers from here on are the supervisor's: accepted connections */
  firstOwnStream: 2_147_483_648,
  /** unacknowledged INPUT of one stream */
  inputWindowBytes: 65_536,
  /** unacknowledged INPUT of all streams together */
  inputTotalBytes: 262_144,
  /** upper bound of both windows that SETUP gives */
  maxOutputWindowBytes: 16_777_216,
  /** OUTPUT of one stream before the next one has its turn */
  sliceBytes: 16_384,
  /** arguments, variables and folder of one SPAWN */
  maxStringsBytes: 2_097_152,
  /** BPF program: 4,096 instructions */
  maxFilterBytes: 32_768,
  /** payload of one datagram; longer ones are dropped */
  maxDatagramBytes: 4096,
  /** a question to the resolver; longer ones are neither answered nor told */
  maxQuestionBytes: 512,
  /** questions that one LISTEN is told of; later ones are answered all the same */
  maxQuestions: 64,
  /** each path of FILE, without its NUL */
  maxPathBytes: 4095,
  /** records in LEFT; the count is exact */
  maxLeft: 256,
  /** text of TROUBLE */
  maxTroubleBytes: 512,
  /** what VARIABLES and MOUNTS tell */
  maxStartBytes: 49_152,
} as const;

/** Every frame: its number, who sends it, on which stream, and its fields in their order. */
export const frameTable = {
  SETUP: {
    type: 1,
    from: "host",
    stream: "zero",
    fields: {
      version: "u32",
      ownUser: "u32",
      ownGroup: "u32",
      firstTag: "u32",
      tagCount: "u32",
      silenceMs: "u32",
      streamWindow: "u32",
      totalWindow: "u32",
      probe1: "u32",
      probe2: "u32",
      probe3: "u32",
      probeUser: "u32",
      probeGroup: "u32",
      flags: "u32",
      processes: "u32",
      openFiles: "u32",
      signals: "u32",
      queueBytes: "u32",
      lockedBytes: "u32",
      fileBytes: "u64",
    },
    tail: true,
  },
  PING: { type: 2, from: "host", stream: "zero", fields: { nonce: "u64" }, tail: false },
  CREDIT: { type: 3, from: "both", stream: "any", fields: { bytes: "u32" }, tail: false },
  SPAWN: {
    type: 4,
    from: "host",
    stream: "new",
    fields: {
      user: "u32",
      group: "u32",
      flags: "u32",
      rows: "u16",
      columns: "u16",
      argumentCount: "u16",
      variableCount: "u16",
      stringsBytes: "u32",
    },
    tail: false,
  },
  RELEASE: { type: 5, from: "host", stream: "live", fields: {}, tail: false },
  INPUT: { type: 6, from: "host", stream: "live", fields: {}, tail: true },
  INPUT_END: { type: 7, from: "host", stream: "live", fields: {}, tail: false },
  RESIZE: { type: 8, from: "host", stream: "live", fields: { rows: "u16", columns: "u16" }, tail: false },
  SIGNAL: { type: 9, from: "host", stream: "live", fields: { signal: "u8", scope: "u8" }, tail: false },
  END_TREE: { type: 10, from: "host", stream: "liveOrZero", fields: { graceMs: "u32" }, tail: false },
  ASK_LEFT: { type: 11, from: "host", stream: "liveOrZero", fields: {}, tail: false },
  DIAL: {
    type: 12,
    from: "host",
    stream: "new",
    fields: { port: "u16", family: "u8", zero: "u8", deadlineMs: "u32" },
    tail: true,
  },
  LISTEN: { type: 13, from: "host", stream: "new", fields: { port: "u16", family: "u8", kind: "u8" }, tail: false },
  DATAGRAM: { type: 14, from: "both", stream: "live", fields: { port: "u16" }, tail: true },
  CLOSE: { type: 15, from: "host", stream: "live", fields: {}, tail: false },
  FILE: {
    type: 16,
    from: "host",
    stream: "new",
    fields: {
      verb: "u8",
      flags: "u8",
      folderBytes: "u16",
      pathBytes: "u16",
      otherBytes: "u16",
      user: "u32",
      group: "u32",
      mode: "u32",
      deadlineMs: "u32",
      maxEntries: "u32",
      offset: "u64",
      maxBytes: "u64",
    },
    tail: true,
  },
  NUMBERS: { type: 17, from: "host", stream: "zero", fields: { intervalMs: "u32" }, tail: false },
  HELLO: {
    type: 64,
    from: "supervisor",
    stream: "zero",
    fields: {
      version: "u32",
      mode: "u8",
      cgroup: "u8",
      architecture: "u8",
      zero: "u8",
      facts: "u32",
      user: "u32",
      group: "u32",
      capabilities: "u64",
      descriptors: "u32",
      processors: "u32",
      probe1: "u32",
      probe2: "u32",
      probe3: "u32",
      probeCapabilities: "u64",
    },
    tail: true,
  },
  PONG: { type: 65, from: "supervisor", stream: "zero", fields: { nonce: "u64" }, tail: false },
  STARTED: { type: 66, from: "supervisor", stream: "live", fields: { pid: "u32" }, tail: false },
  OUTPUT: { type: 67, from: "supervisor", stream: "live", fields: {}, tail: true },
  ERROR_OUTPUT: { type: 68, from: "supervisor", stream: "live", fields: {}, tail: true },
  OUTPUT_END: { type: 69, from: "supervisor", stream: "live", fields: { channel: "u8" }, tail: false },
  EXIT: {
    type: 70,
    from: "supervisor",
    stream: "live",
    fields: { code: "u8", signal: "u8", zero: "u16", userUs: "u64", systemUs: "u64", maxResidentKb: "u64" },
    tail: false,
  },
  ENDED: {
    type: 71,
    from: "supervisor",
    stream: "live",
    fields: { reason: "u8", stage: "u8", zero: "u16", error: "u32", first: "u64", second: "u64" },
    tail: false,
  },
  LEFT: { type: 72, from: "supervisor", stream: "liveOrZero", fields: { count: "u32" }, tail: true },
  OPENED: { type: 73, from: "supervisor", stream: "live", fields: { port: "u16" }, tail: false },
  ACCEPTED: { type: 74, from: "supervisor", stream: "new", fields: { listener: "u32", port: "u16" }, tail: false },
  STATS: {
    type: 75,
    from: "supervisor",
    stream: "zero",
    fields: {
      memoryBytes: "u64",
      memoryPeakBytes: "u64",
      memoryLimitBytes: "u64",
      memoryKills: "u64",
      cpuUs: "u64",
      diskReadBytes: "u64",
      diskWriteBytes: "u64",
      processes: "u64",
      processLimit: "u64",
      memoryCacheBytes: "u64",
      scratchBytes: "u64",
      monotonicUs: "u64",
    },
    tail: true,
  },
  TROUBLE: { type: 76, from: "supervisor", stream: "zero", fields: { code: "u8" }, tail: true },
  VARIABLES: { type: 77, from: "supervisor", stream: "zero", fields: { bytes: "u32" }, tail: true },
  MOUNTS: { type: 78, from: "supervisor", stream: "zero", fields: { bytes: "u32" }, tail: true },
} as const;

/** Numbers of the protocol: setup flags. */
export const setupFlags = {
  VARIABLES: 1,
  MOUNTS: 2,
} as const;

/** Numbers of the protocol: spawn flags. */
export const spawnFlags = {
  INPUT: 1,
  TERMINAL: 2,
  HELD: 4,
  SETUP: 8,
} as const;

/** Numbers of the protocol: fact bits. */
export const factBits = {
  OPENAT2: 1,
  CLOSE_RANGE: 2,
  PIDFD: 4,
  SUBREAPER: 8,
  TAGS: 16,
  MEMORY_GROUP: 32,
  TERMINALS: 64,
  FILTER: 128,
  PROCESS_LIMIT: 256,
} as const;

/** Numbers of the protocol: ends. */
export const ends = {
  DONE: 0,
  FAILED: 1,
  LOST: 2,
  DEADLINE: 3,
  CLOSED: 4,
  REFUSED: 5,
} as const;

/** Numbers of the protocol: stages. */
export const stages = {
  STREAMS: 1,
  STRINGS: 2,
  PIPES: 3,
  FORK: 4,
  TERMINAL: 5,
  USER: 6,
  FILTER: 7,
  FOLDER: 8,
  PROGRAM: 9,
  PATH: 10,
  OPEN: 11,
  READ: 12,
  WRITE: 13,
  CONNECT: 14,
  BIND: 15,
  ARCHIVE: 16,
  ENTRIES: 17,
  HELPER: 18,
  LIMIT: 19,
} as const;

/** Numbers of the protocol: file verbs. */
export const fileVerbs = {
  LOOK: 1,
  LIST: 2,
  READ: 3,
  WRITE: 4,
  MAKE: 5,
  MOVE: 6,
  REMOVE: 7,
  CHMOD: 8,
  PACK: 9,
  UNPACK: 10,
} as const;

/** Numbers of the protocol: file flags. */
export const fileFlags = {
  PARENTS: 1,
  TREE: 2,
  EXCLUSIVE: 4,
  APPEND: 8,
  FOLLOW: 16,
  MODE: 32,
  REPLACE: 64,
} as const;

/** Numbers of the protocol: exit codes. */
export const exitCodes = {
  ASKED: 0,
  NONSENSE: 64,
  SILENCE: 65,
  CUT: 66,
  STUCK: 67,
  FLOOD: 68,
  BROKEN: 70,
  PLACE: 71,
} as const;
