import { describe, expect, it } from "vitest";
import { distributions } from "./distributions.ts";
import { isPythonPackage, pythonPackage } from "./python-package.ts";
import { standardLibrary } from "./standard-library.ts";

describe("pythonPackage", () => {
  it.each([
    ["requests", "requests"],
    ["numpy.linalg.norm", "numpy"],
    ["pkg_x.y", "pkg-x"],
    ["IPython", "IPython"],
    ["yaml", "PyYAML"],
    ["yaml.safe_load", "PyYAML"],
    ["cv2", "opencv-python"],
    ["PIL.Image", "Pillow"],
    ["sklearn.svm", "scikit-learn"],
    ["bs4.BeautifulSoup", "beautifulsoup4"],
    ["Crypto.Cipher", "pycryptodome"],
    ["attr", "attrs"],
    ["_pytest.x", "pytest"],
    ["mpl_toolkits.mplot3d", "matplotlib"],
    ["google.protobuf.message", "protobuf"],
    ["google.cloud.storage", "google-cloud-storage"],
    ["google.cloud.pubsub_v1.types", "google-cloud-pubsub"],
    ["google.cloud.exceptions.NotFound", "google-cloud-core"],
    ["google.oauth2.service_account", "google-auth"],
    ["google.genai", "google-genai"],
    ["azure.identity.DefaultAzureCredential", "azure-identity"],
    ["azure.storage.blob.BlobClient", "azure-storage-blob"],
    ["azure.mgmt.compute", "azure-mgmt-compute"],
    ["zope.interface.implementer", "zope-interface"],
    ["ruamel.yaml", "ruamel.yaml"],
    ["opentelemetry.trace", "opentelemetry-api"],
    ["opentelemetry.sdk.trace", "opentelemetry-sdk"],
    ["opentelemetry.instrumentation.flask.x", "opentelemetry-instrumentation-flask"],
    ["constructor", "constructor"],
  ])("%s needs %s", (path, name) => {
    expect(pythonPackage(path)).toBe(name);
  });

  it.each([
    ...[
      "os",
      "os.path",
      "asyncio",
      "tomllib",
      "distutils.core",
      "binhex",
      "annotationlib",
      "compression.zstd",
      "winreg",
    ],
    ...["__future__.annotations", "__main__", "_thread", "urllib2", "ConfigParser", "test.support"],
    ...["google", "google.cloud", "azure", "azure.storage", "backports"],
    ...["", "café", "-x", "a b", "a/b", "x_", "a".repeat(101)],
  ])("%j needs none", (path) => {
    expect(pythonPackage(path)).toBeNull();
  });

  it("has a table of names that the index could hold, none of them for the standard library", () => {
    expect(distributions.size).toBeGreaterThan(300);
    expect([...distributions.values()].filter((name) => !isPythonPackage(name))).toEqual([]);
    expect([...distributions.keys()].filter((path) => !/^\w+(\.\w+)*$/.test(path))).toEqual([]);
    expect([...distributions.keys()].filter((path) => standardLibrary.has(path.split(".", 1)[0] ?? ""))).toEqual([]);
  });
});
