import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { ServedGlovebox } from "./served-glovebox.ts";

/** A page of the console, and what went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  /** Script errors, refusals by the content policy and dialogs: none is ever expected. */
  readonly problems: string[];
  /** Addresses that it requested. */
  readonly asked: string[];
}

/** Opens the console in a new browser profile; signed in unless the fragment says otherwise. */
export async function openConsole(
  browser: Browser,
  served: ServedGlovebox,
  options: BrowserContextOptions & { readonly fragment?: string } = {},
): Promise<ConsolePage> {
  const { fragment = `#token=${served.token}`, ...others } = options;
  const context = await browser.newContext({ viewport: { width: 1_400, height: 860 }, ...others });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) problems.push(message.text());
  });
  page.on("request", (request) => asked.push(request.url()));
  page.on("websocket", (socket) => asked.push(socket.url()));
  await page.goto(`${served.url}/${fragment}`);
  // From here on it also reacts to keys.
  await page.locator(".connection.live, .sign-in").waitFor();
  return { page, problems, asked };
}

/** Starts a program without waiting for it, and resolves to its id. */
export async function startProgram(
  { url, token }: ServedGlovebox,
  code: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return startRun({ url, token }, "/api/sandbox/execute", { language: "python", code, timeout_seconds: 100, ...more });
}

/** The same for any kind of run. */
export async function startRun(
  { url, token }: Pick<ServedGlovebox, "url" | "token">,
  route: string,
  body: object,
): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    prefer: "respond-async",
  };
  const answer = await fetch(`${url}${route}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 202) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { readonly id: string }).id;
}
