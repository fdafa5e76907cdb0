/** The rows of the database. Times are milliseconds since the epoch, sizes are bytes; SQL reads the same on both databases. */
export interface Tables {
  servers: ServerRow;
  policies: PolicyRow;
  runs: RunRow;
  run_labels: RunLabelRow;
  log_entries: LogEntryRow;
  metrics_samples: MetricsSampleRow;
  alerts: AlertRow;
  test_reports: TestReportRow;
}

/** A server that writes here, as long as it lives. */
export interface ServerRow {
  readonly id: string;
  /** JSON: its process, by which others on its machine see whether it lives. */
  readonly identity: string;
  /** Goes up with each sign of life. */
  readonly beats: number;
}

/** A policy that governed runs, by the digest that their results carry. */
export interface PolicyRow {
  /** SHA-256 of `policy`, in hexadecimal digits. */
  readonly digest: string;
  /** Canonical JSON. */
  readonly policy: string;
}

/** One run, from its start on. */
export interface RunRow {
  readonly id: string;
  readonly server: string;
  readonly principal: string;
  readonly kind: string;
  readonly engine: string;
  readonly sandbox: string;
  readonly session: string | null;
  readonly environment: string | null;
  readonly policy_digest: string;
  /** Its caller's own word for its sandbox. */
  readonly name: string | null;
  /** What ran, in a few words; null in rows of older versions. */
  readonly work: string | null;
  /** Null where its engine has no images. */
  readonly image: string | null;
  readonly started_ms: number;
  /** Null while it is running. */
  readonly ended_ms: number | null;
  readonly outcome: string | null;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly error_type: string | null;
  /** 1: its server was gone before it ended; `ended_ms` is when that was found. */
  readonly interrupted: number;
  /** Positions of its sandbox's log entries, the second not included; null where there is none. */
  readonly log_from: number | null;
  readonly log_to: number | null;
  /** 1: its principal has removed its result; the record stays. */
  readonly forgotten: number;
}

/** One of the labels with which its caller has marked a run's sandbox. */
export interface RunLabelRow {
  readonly run: string;
  readonly name: string;
  readonly value: string;
}

export interface LogEntryRow {
  readonly sandbox: string;
  readonly position: number;
  readonly principal: string;
  readonly stamp_ms: number;
  readonly stream: string;
  readonly message: string;
  /** 1: the line continues in the stream's next entry. */
  readonly partial: number;
  /** Entries that are missing from this position on. */
  readonly dropped: number;
  /** What it counts for in the limit on the size of the store. */
  readonly bytes: number;
}

/** One measurement of a sandbox (SPEC ME1); null where its engine does not tell. */
export interface MetricsSampleRow {
  readonly sandbox: string;
  readonly principal: string;
  readonly stamp_ms: number;
  readonly cpu_percent: number | null;
  readonly memory_mb: number | null;
  readonly network_rx_bytes: number | null;
  readonly network_tx_bytes: number | null;
  readonly disk_read_bytes: number | null;
  readonly disk_write_bytes: number | null;
  readonly uptime_seconds: number;
}

/** An alert as it was delivered (SPEC ME2). */
export interface AlertRow {
  readonly id: string;
  readonly sandbox: string;
  readonly principal: string;
  readonly stamp_ms: number;
  readonly kind: string;
  readonly value: number;
  readonly threshold: number;
  readonly state: string;
  readonly message: string;
  readonly suggestion: string;
}

/** Every test of a run of tests. */
export interface TestReportRow {
  readonly sandbox: string;
  readonly principal: string;
  readonly stamp_ms: number;
  /** CTRF, compressed with gzip, in base64: text is the same on both databases. */
  readonly report: string;
  /** Characters of it. */
  readonly size: number;
}
