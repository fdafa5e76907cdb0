import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { session, signIn } from "../session.ts";
import { Icon } from "./icon.tsx";

/** Asks for the token or an API key. */
export function SignIn(): VNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(session.value.problem);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!signIn(token.trim())) setProblem("This cannot be a token: it has characters that no token has.");
  };
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={submit}>
        <span class="brand">
          <span class="brand-mark" aria-hidden="true" />
          Glovebox
        </span>
        <h1>Sign in</h1>
        <label htmlFor="token">Token or API key</label>
        <input
          id="token"
          ref={field}
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          required
          value={token}
          aria-describedby="token-hint"
          aria-invalid={problem !== undefined}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        {problem !== undefined && (
          <p class="problem" role="alert">
            <Icon name="warning" />
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
        <p id="token-hint" class="hint">
          <code>glovebox console</code> on the server&rsquo;s machine opens this page signed in. Elsewhere use a key of{" "}
          <code>glovebox keys add</code>. It is kept in this tab only.
        </p>
      </form>
    </main>
  );
}
