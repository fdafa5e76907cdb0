import { describe, expect, it } from "vitest";
import { distributions, isPythonPackage, pythonPackage } from "./python-package.ts";
import { standardLibrary } from "./standard-library.ts";

describe("pythonPackage", () => {
  it.each([
    ["requests", "requests"],
    ["numpy.linalg.norm", "numpy"],
    ["pkg_x.y", "pkg-x"],
    ["IPython", "IPython"],
    ["yaml", "PyYAML"],
    ["yaml.safe_load", "PyYAML"],
    ["cv2", "opencv-python-headless"],
    ["flufl.lock.Lock", "flufl-lock"],
    ["flufl.i18n", "flufl-i18n"],
    ["bluetooth.ble", "pybluez"],
    ["Stemmer", "pystemmer"],
    ["umsgpack", "u-msgpack-python"],
    ["pkg_resources.resource_filename", "setuptools<82"],
    ["setuptools.setup", "setuptools<82"],
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
    ["ruamel.yaml.YAML", "ruamel.yaml"],
    ["ruamel.std.zipfile.InMemoryZipFile", "ruamel-std-zipfile"],
    ["ruamel.std.pathlib", "ruamel-std-pathlib"],
    ["google.analytics.data_v1beta.types", "google-analytics-data"],
    ["google.cloud.devtools.cloudbuild_v1", "google-cloud-build"],
    ["google.cloud.video.transcoder_v1.services", "google-cloud-video-transcoder"],
    ["azure.storage.filedatalake.FileSystemClient", "azure-storage-file-datalake"],
    ["azure.kusto.data.KustoClient", "azure-kusto-data"],
    ["airflow.providers.slack.hooks", "apache-airflow-providers-slack"],
    ["airflow.providers.cncf.kubernetes.operators.pod", "apache-airflow-providers-cncf-kubernetes"],
    ["llama_index.vector_stores.chroma.ChromaVectorStore", "llama-index-vector-stores-chroma"],
    ["opentelemetry.propagators.b3.B3Format", "opentelemetry-propagator-b3"],
    ["opentelemetry.propagators.textmap", "opentelemetry-api"],
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
    ...["google", "google.cloud", "azure", "azure.storage", "backports", "ruamel", "ruamel.std", "flufl"],
    ...["", "café", "-x", "a b", "a/b", "x_", "a".repeat(101)],
  ])("%j needs none", (path) => {
    expect(pythonPackage(path)).toBeNull();
  });

  it("has a table of names that the index could hold, none of them for the standard library", () => {
    expect(distributions.size).toBeGreaterThan(500);
    expect([...distributions.values()].filter((name) => !isPythonPackage(name))).toEqual([]);
    expect([...distributions.keys()].filter((path) => !/^\w+(\.\w+)*$/.test(path))).toEqual([]);
    expect([...distributions.keys()].filter((path) => standardLibrary.has(path.split(".", 1)[0] ?? ""))).toEqual([]);
  });
});
