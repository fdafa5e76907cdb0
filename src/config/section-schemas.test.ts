import { expect, it } from "vitest";
import { previewSection, toPreview } from "./section-schemas.ts";

const read = (domain: string | null, backend: string | null = null) => {
  const parsed = previewSection().safeParse({ domain, backend });
  return parsed.success ? toPreview(parsed.data) : parsed.error.issues[0]?.message;
};

it("a domain may have a scheme and a port", () => {
  const name = "preview.example";
  expect(read(null)).toEqual({ domain: null, backend: null });
  expect(read(name)).toMatchObject({ domain: { scheme: "http", name, port: null } });
  expect(read(`https://${name}`)).toMatchObject({ domain: { scheme: "https", name, port: null } });
  expect(read(`http://${name}:8080`)).toMatchObject({ domain: { scheme: "http", name, port: 8080 } });
});

it.each([
  "localhost",
  "x.localhost",
  "1.2.3.4",
  "[::1]",
  "*.example",
  "a.example/",
  "a.example:99999",
  "A.example",
  "example.",
])("%s is no domain for previews", (domain) => expect(read(domain)).toContain("a domain such as"));

it("the backend is an origin", () => {
  expect(read(null, "http://127.0.0.1:3001")).toMatchObject({ backend: "http://127.0.0.1:3001" });
  for (const bad of ["127.0.0.1:3001", "http://x/", "http://x/path", "ftp://x", "http://u:p@x"])
    expect(read(null, bad)).toContain("an origin such as");
});
