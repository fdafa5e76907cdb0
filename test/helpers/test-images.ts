/** Images that the testbed builds, instead of the defaults, which no registry here has. */
export const testImages = {
  python: process.env["GLOVEBOX_TEST_IMAGE_PYTHON"] ?? "glovebox-test/python:1",
  javascript: process.env["GLOVEBOX_TEST_IMAGE_NODE"] ?? "glovebox-test/node:1",
  typescript: process.env["GLOVEBOX_TEST_IMAGE_NODE"] ?? "glovebox-test/node:1",
};

/** The same, and an image with Bun and Python for sessions. */
export const sessionImages = {
  ...testImages,
  session: process.env["GLOVEBOX_TEST_IMAGE_BUN"] ?? "glovebox-test/bun:1",
};
