/** How commands name their port, in the order in which they count. */
const named: readonly RegExp[] = [
  /(?:^|\s)--(?:[\w-]+[.-])?port[ =](\d{1,5})\b/,
  /(?:^|\s)-p[ =]?(\d{1,5})\b/,
  /(?:^|\s)PORT=(\d{1,5})\b/,
  /\b(?:http\.server|runserver)\s+(?:[\w.[\]:]+:)?(\d{1,5})\b/,
  /(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{1,5})\b/,
];

/** Where tools listen unless told otherwise; the first that is named counts. */
const tools: readonly (readonly [words: RegExp, port: number])[] = [
  [/\bvite\s+preview\b/, 4173],
  [/\b(?:vite|vinxi|react-router\s+dev|svelte-kit)\b/, 5173],
  [/\bastro\b/, 4321],
  [/\bng\s+serve\b/, 4200],
  [/\bparcel\b/, 1234],
  [/\bstorybook\b/, 6006],
  [/\bwrangler\b/, 8787],
  [/\bstreamlit\b/, 8501],
  [/\bflask\b/, 5000],
  [/\bhugo\b/, 1313],
  [/\b(?:jekyll|bridgetown)\b/, 4000],
  [/\b(?:webpack|webpack-dev-server|rspack|rsbuild|vue-cli-service|eleventy|http-server|live-server)\b/, 8080],
  [/\b(?:http\.server|runserver|uvicorn|fastapi|gunicorn|hypercorn|mkdocs|gatsby|sphinx-autobuild)\b/, 8000],
];

/** A package manager that runs a script, with its name. */
const scriptCall = /\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]{1,100})/;

/**
 * The TCP port at which a command listens, as far as its own words or those of the script that it runs say; null: nothing
 * says it. A guess: the command may listen elsewhere all the same.
 *
 * @param scripts of `package.json`
 */
export function serverPort(command: string, scripts: Readonly<Record<string, string>>): number | null {
  const name = scriptCall.exec(command)?.[1];
  const script = name !== undefined && Object.hasOwn(scripts, name) ? (scripts[name] ?? "") : "";
  const lines = [command, script];
  const told = lines.flatMap((line) => named.map((words) => Number(words.exec(line)?.[1])));
  const port = told.find((each) => each >= 1 && each <= 65_535);
  if (port !== undefined) return port;
  for (const line of lines) {
    const tool = tools.find(([words]) => words.test(line));
    if (tool !== undefined) return tool[1];
  }
  return null;
}
