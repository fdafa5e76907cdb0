// How much of something one request may have. The first ones are repeated from the layers that check the rest of it, so
// that contracts import nothing from below; operations/handling/request-maxima.test.ts checks that they match.

/** Files that go with a request. */
export const maxContextFiles = 256;
/** Environment variables. */
export const maxEnvironmentEntries = 256;
/** Arguments of a program, itself included. */
export const maxArguments = 65_000;
/** Packages. */
export const maxPackages = 200;
/** Globs of result files. */
export const maxGlobs = 64;
/** Domains that the code may reach. */
export const maxDomains = 256;
/** Names of tests to run. */
export const maxTestNames = 10_000;

/** Commands that prepare an environment, of each kind: an image is made after them, not after each. */
export const maxSetupCommands = 64;
/** Secrets. */
export const maxSecrets = 64;
/** Formats of reports: each at most once. */
export const maxReportFormats = 2;
/** Images or sandboxes that the operator names at once. */
export const maxNamed = 1024;
