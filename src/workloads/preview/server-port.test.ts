import { expect, it } from "vitest";
import { serverPort } from "./find-server.ts";

it.each([
  ["npx vite --port 4000", {}, 4000],
  ["npx vite --port=4000", {}, 4000],
  ["npm run dev", { dev: "vite" }, 5173],
  ["npm run dev -- --port 4001", { dev: "vite --port 4000" }, 4001],
  ["pnpm run dev", { dev: "next dev -p 3100" }, 3100],
  ["yarn run dev", { dev: "PORT=4100 node server.js" }, 4100],
  ["yarn dev", { dev: "astro dev" }, 4321],
  ["npm start", { start: "ng serve" }, 4200],
  ["bun run preview", { preview: "vite preview" }, 4173],
  ["npm run serve", { serve: "webpack serve" }, 8080],
  ["python3 -m http.server", {}, 8000],
  ["python3 -m http.server 9000", {}, 9000],
  ["python3 manage.py runserver 0.0.0.0:8010", {}, 8010],
  ["python3 manage.py runserver", {}, 8000],
  ["python3 -m uvicorn main:app --reload", {}, 8000],
  ["python3 -m streamlit run app.py --server.port 8600", {}, 8600],
  ["php -S localhost:8700", {}, 8700],
  ["node server.js", {}, null],
  ["npm run constructor", {}, null],
  ["npm run dev", { build: "vite build" }, null],
  ["node server.js --port 99999", {}, null],
])("%s of %o listens on %s", (command, scripts: Readonly<Record<string, string>>, port) => {
  expect(serverPort(command, scripts)).toBe(port);
});

it("takes time in proportion to hostile texts", () => {
  const line = "npm run ".repeat(4_000) + "-p ".repeat(4_000) + "a".repeat(10_000);
  expect(serverPort(line, { run: line })).toBe(null);
});
