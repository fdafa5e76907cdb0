/** The Bun that images are built with; the same as the one that the package depends on. */
export const bunVersion = "1.4.5";

/** The label that tells which Bun is in an image. */
export const bunLabel = "glovebox.bun";

/** C library and processor of a Linux, as far as Bun has a package of its own for it. */
export type BunTarget = "x64" | "x64-musl" | "aarch64" | "aarch64-musl";

/** Hashes of the registry's packages `@oven/bun-linux-TARGET`, as `package-lock.json` has them. */
export const bunIntegrity: Readonly<Record<BunTarget, string>> = {
  x64: "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  "x64-musl": "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
  aarch64: "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  "aarch64-musl": "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
};
