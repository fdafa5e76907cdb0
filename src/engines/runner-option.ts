/**
 * First argument of an interpreter, with the text of a runner after it: on an engine that runs interpreters only
 * (`capabilities.programs`), there is no shell that could place the runner; the guard runs it before the program starts.
 */
export const runnerOption = "--glovebox-runner=";
