/** The instructions for every agent that connects to the server. */
export const instructions: string = [
  "Glovebox runs untrusted code in sealed sandboxes: computing, parsing, checking, testing and plotting are safe here.",
  "execute_code runs one complete program in a fresh sandbox and removes it: print what you want to know, pass files in with context_files and get files back with artifacts.",
  "run_code runs programs one after another in a session that keeps its files; each call is a fresh program, named by session_id.",
  "create_environment gives a container with a project's folder at /workdir; run_command runs its tools there.",
  "run_tests runs a project's tests on a copy of the project and counts them: read verdict, reason and failures.",
  "start_preview serves a project's page and gives a URL for a browser.",
  "start_process keeps a server or a watcher running in an environment or in the session of run_code, and returns URLs for its ports.",
  'There is no network unless a call asks for it with "network", and then only what the deployment allows.',
  "A failing program is a normal answer: read outcome, exit_code, stderr and error.suggestion, fix the program and run it again. isError means that Glovebox refused or failed; its error.suggestion says what to do.",
  'An answer with status "running" comes with a run_id: call the same tool again with {"run_id": "..."} alone to wait for the rest, or with "cancel": true to end it.',
  "Long fields are cut in the middle and listed in shortened; the full text is a resource for 15 minutes. Better print less, or return a file.",
].join("\n");
