/** The Bun that Glovebox fetches, and builds images with. */
export const bunVersion = "1.4.5";

/** The label that says which Bun is in an image. */
export const bunLabel = "glovebox.bun";

/** System, processor and C library, as far as Bun has a package of its own for them: `@oven/bun-TARGET`. */
export type BunTarget = `linux-${"x64" | "aarch64"}${"" | "-musl"}` | `${"darwin" | "windows"}-${"x64" | "aarch64"}`;

/** Hashes of the registry's packages, as `package-lock.json` has them. */
export const bunIntegrity: Readonly<Record<BunTarget, string>> = {
  "linux-x64": "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  "linux-x64-musl": "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
  "linux-aarch64": "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  "linux-aarch64-musl":
    "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
  "darwin-x64": "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
  "darwin-aarch64": "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  "windows-x64": "sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
  "windows-aarch64": "sha512-MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw==",
};

/** Whether Bun has a package of that name. */
export function isBunTarget(target: string): target is BunTarget {
  return Object.hasOwn(bunIntegrity, target);
}

/** The target of this machine; null where there is no Bun for it. Pure. */
export function bunTarget(platform: string, architecture: string, libc: "glibc" | "musl"): BunTarget | null {
  const system = platform === "win32" ? "windows" : platform;
  const cpu = architecture === "arm64" ? "aarch64" : architecture;
  const target = `${system}-${cpu}${platform === "linux" && libc === "musl" ? "-musl" : ""}`;
  return isBunTarget(target) ? target : null;
}
