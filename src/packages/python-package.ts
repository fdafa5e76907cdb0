import { standardLibrary } from "./standard-library.ts";
import { familyTable } from "./distribution-families.ts";

/** The index's rule for names, and the bound that a few of {@link distributions} have. */
const distributionName = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?(?:<\d{1,4})?$/i;

/** `pubsub_v1` in `google.cloud.pubsub_v1`: versions of an interface lie in one distribution. */
const interfaceVersion = /(?<=\w)_v\d\w{0,100}$/;

/**
 * The distribution to install for a module's dotted path, which may go on beyond the module (`yaml.safe_load` gives
 * `PyYAML`). Null for the standard library, for a namespace alone, and for what cannot be a distribution's name.
 */
export function pythonPackage(path: string): string | null {
  const [first = "", ...others] = path.split(".");
  const names = [first, ...others.map((name) => name.replace(interfaceVersion, ""))];
  if (standardLibrary.has(first)) return null;
  for (let length = Math.min(names.length, 5); length > 0; length -= 1) {
    const prefix = names.slice(0, length).join(".");
    const known = distributions.get(prefix);
    if (known !== undefined) return known;
    const depth = namespaces.get(prefix);
    if (depth !== undefined) return names.length < depth ? null : checkedName(names.slice(0, depth));
  }
  return checkedName([first]);
}

export function isPythonPackage(name: string): boolean {
  return distributionName.test(name);
}

function checkedName(names: readonly string[]): string | null {
  const joined = names.join("-").replaceAll("_", "-");
  const [from, to] = [...namespacePrefixes].find(([prefix]) => joined.startsWith(prefix)) ?? ["", ""];
  const name = `${to}${joined.slice(from.length)}`;
  return isPythonPackage(name) ? name : null;
}

/**
 * Modules whose distribution has another name than theirs, each line `distribution: modules`. Where several
 * distributions bring a module, it is the one with wheels that is installed most, and the one that needs no screen.
 * Versions of an interface (`_v1`, `_v1beta1`) are left out;
 * a bound is given where later releases lost the module. `scripts/compare-imports.ts` compares it with the distributions.
 */
const table = `
absl-py: absl
acryl-datahub: datahub
amazon-textract-response-parser: trp
analytics-python: analytics
ansicolors: colors
antlr4-python3-runtime: antlr4
apache-flink: pyflink
apache-libcloud: libcloud
Appium-Python-Client: appium
argon2-cffi: argon2
atlassian-python-api: atlassian
attrs: attr
auth0-python: auth0
auto-sklearn: autosklearn
baidu-aip: aip
basemap: mpl_toolkits.basemap
bayesian-optimization: bayes_opt
bce-python-sdk: baidubce
beautifulsoup4: bs4
biopython: Bio BioSQL
black: blackd blib2to3
camelot-py: camelot
cassandra-driver: cassandra
cattrs: cattr
cffi: _cffi_backend
cfn-lint: cfnlint
cloud-sql-python-connector: google.cloud.sql
configobj: validate
cos-python-sdk-v5: qcloud_cos
cupy-cuda12x: cupy cupyx
cython: pyximport
dbus-python: dbus
delta-spark: delta
discord.py: discord
dm-haiku: haiku
dm-sonnet: sonnet
dm-tree: tree
dnspython: dns
dogpile.cache: dogpile
earthengine-api: ee
elastic-apm: elasticapm
facebook-sdk: facebook
factory-boy: factory
faiss-cpu: faiss
feather-format: feather
ffmpeg-python: ffmpeg
fluent-logger: fluent
fpdf2: fpdf
future: libfuturize libpasteurize past
GDAL: ogr osgeo osr
gevent-websocket: geventwebsocket
github3.py: github3
GitPython: git
graphql-core: graphql
haystack-ai: haystack
html-testRunner: HtmlTestRunner
hydra-core: hydra
ibis-framework: ibis
imbalanced-learn: imblearn
impyla: impala
jpype1: jpype
junos-eznc: jnpr
kafka-python: kafka
keystone-engine: keystone
launchdarkly-server-sdk: ldclient
libarchive-c: libarchive
libsass: sass sassutils
libusb1: usb1
lightning-bolts: pl_bolts
line-bot-sdk: linebot
linkify-it-py: linkify_it
llama-cpp-python: llama_cpp
mail-parser: mailparser
markdown-it-py: markdown_it
matplotlib: mpl_toolkits pylab
mecab-python3: MeCab
mega.py: mega
mkdocs-macros-plugin: mkdocs_macros
mkdocs-material: material
msgraph-sdk: msgraph
mypy: mypyc
mysql-connector-python: mysql
mysql-replication: pymysqlreplication
mysqlclient: MySQLdb
nats-py: nats
ndg-httpsclient: ndg
newspaper3k: newspaper
numpy-stl: stl
nvidia-ml-py: pynvml
odfpy: odf
Office365-REST-Python-Client: office365
open-clip-torch: open_clip
openai-agents: agents
openai-whisper: whisper
openbabel-wheel: openbabel
opencv-python-headless: cv2
opensearch-py: opensearchpy
openstacksdk: openstack
paddlepaddle: paddle
paho-mqtt: paho
panda3d: direct
PasteDeploy: paste.deploy
PasteScript: paste.script
patool: patoolib
pdfminer.six: pdfminer
peewee: playhouse
Pillow: PIL
pip-tools: piptools
progressbar2: progressbar
proto-plus: proto
protobuf: google._upb google.protobuf
psycopg2-binary: psycopg2
pulsar-client: pulsar
pwntools: pwn pwnlib
py-bip39-bindings: bip39
py-cpuinfo: cpuinfo
py-healthcheck: healthcheck
py-moneyed: moneyed
py-solc-x: solcx
py-sr25519-bindings: sr25519
py-trello: trello
pyahocorasick: ahocorasick
pyalsaaudio: alsaaudio
pybluez: bluetooth
pybullet: pybullet_data
pycairo: cairo
pycapnp: capnp
pycollada: collada
pycryptodome: Crypto
pycryptodomex: Cryptodome
pycups: cups
pycurl: curl
PyDispatcher: pydispatch
pyelftools: elftools
pyenchant: enchant
pyerfa: erfa
PyExecJS: execjs
pyFluidSynth: fluidsynth
pyfunctional: functional
PyGithub: github
PyGLM: glm
PyGObject: gi
PyHamcrest: hamcrest
pyhumps: humps
pyicu: icu
pyjks: jks
pyjnius: jnius
PyJWT: jwt
pykube-ng: pykube
pymongo: bson gridfs
PyMuPDF: fitz
PyNaCl: nacl
pynsq: nsq
pyocclient: owncloud
PyOpenGL: OpenGL
pyOpenSSL: OpenSSL
PyPubSub: pubsub
pyro-ppl: pyro
pysaml2: saml2
pyscard: smartcard
pyserial: serial
pyserial-asyncio: serial_asyncio
pyshp: shapefile
pysimdjson: simdjson
pysmb: smb
PySocks: socks sockshandler
pyspnego: spnego
pystan: stan
pystemmer: Stemmer
pyTelegramBotAPI: telebot
pytest: _pytest
pytest-runner: ptr
pytest-xdist: xdist
python3-openid: openid
python3-saml: onelogin
pythonnet: clr
pytidylib: tidylib
pytorch-ignite: ignite
pyusb: usb
PyWavelets: pywt
pywebview: webview
pyWin32: pythoncom pythonwin pywintypes servicemanager win32api win32clipboard win32com win32con win32crypt win32event win32evtlog win32file win32gui win32job win32net win32pdh win32pipe win32print win32process win32security win32service win32serviceutil win32timezone win32ts win32ui winerror
pywinpty: winpty
pywinrm: winrm
pyxdg: xdg
PyYAML: _yaml yaml
pyyaml-include: yamlinclude
pyzmq: zmq
readability-lxml: readability
redis-py-cluster: rediscluster
RPi.GPIO: RPi
rpds-py: rpds
ruamel.yaml: ruamel.yaml
ruamel.yaml.jinja2: ruamel.yaml.jinja2
ruamel.yaml.string: ruamel.yaml.string
segment-analytics-python: segment
setuptools<82: pkg_resources setuptools
slack-sdk: slack
smbprotocol: smbclient
solidpython: solid
sorl-thumbnail: sorl
SpeechRecognition: speech_recognition
speedtest-cli: speedtest
sphinx-argparse: sphinxarg
splitio-client: splitio
sseclient-py: sseclient
stomp.py: stomp
strawberry-graphql: strawberry
streamlit-aggrid: st_aggrid
systemd-python: systemd
TA-Lib: talib
tabula-py: tabula
tavily-python: tavily
tencentcloud-sdk-python: tencentcloud
toolz: tlz
torch: functorch torchgen
tortoise-orm: tortoise
u-msgpack-python: umsgpack
uc-micro-py: uc_micro
umap-learn: umap
unittest-xml-reporting: xmlrunner
vcrpy: vcr
volcengine-ark-runtime: volcenginesdkarkruntime
volcenginesdk-core: volcenginesdkcore
vtk: vtkmodules
weaviate-client: weaviate
web.py: web
webdavclient3: webdav3
websocket-client: websocket
Wikipedia-API: wikipediaapi
wxPython: wx
yara-python: yara
youtube-search-python: youtubesearchpython
yoyo-migrations: yoyo
z3-solver: z3
`;

/** Dotted path of a module to the distribution that brings it. */
export const distributions: ReadonlyMap<string, string> = new Map(
  `${table.trim()}\n${familyTable.trim()}`.split("\n").flatMap((line) => {
    const [distribution = "", modules = ""] = line.split(": ");
    return modules.split(" ").map((module): [string, string] => [module, distribution]);
  }),
);

/**
 * Modules that several distributions share, and how many names of a path make the distribution's: under `google.cloud`
 * three, so that `google.cloud.storage` is `google-cloud-storage`.
 */
export const namespaces: ReadonlyMap<string, number> = new Map([
  ["airflow.providers", 3],
  ["airflow.providers.apache", 4],
  ["airflow.providers.atlassian", 4],
  ["airflow.providers.cncf", 4],
  ["airflow.providers.common", 4],
  ["airflow.providers.dbt", 4],
  ["airflow.providers.microsoft", 4],
  ["ansys", 3],
  ["azure", 2],
  ["azure.ai", 3],
  ["azure.ai.vision", 4],
  ["azure.cli", 3],
  ["azure.cognitiveservices", 3],
  ["azure.cognitiveservices.vision", 4],
  ["azure.communication", 3],
  ["azure.cosmosdb", 3],
  ["azure.data", 3],
  ["azure.datalake", 3],
  ["azure.defender", 3],
  ["azure.developer", 3],
  ["azure.digitaltwins", 3],
  ["azure.health", 3],
  ["azure.iot", 3],
  ["azure.keyvault", 3],
  ["azure.kusto", 3],
  ["azure.maps", 3],
  ["azure.media", 3],
  ["azure.messaging", 3],
  ["azure.mgmt", 3],
  ["azure.mixedreality", 3],
  ["azure.monitor", 3],
  ["azure.multiapi", 3],
  ["azure.purview", 3],
  ["azure.security", 3],
  ["azure.storage", 3],
  ["azure.synapse", 3],
  ["backports", 2],
  ["collective", 2],
  ["databricks", 2],
  ["databricks.labs", 3],
  ["flaskext", 2],
  ["flufl", 2],
  ["google", 2],
  ["google.ai", 3],
  ["google.analytics", 3],
  ["google.apps", 3],
  ["google.cloud", 3],
  ["google.cloud.video", 4],
  ["google.geo", 3],
  ["google.maps", 3],
  ["google.shopping", 3],
  ["jaraco", 2],
  ["keyrings", 2],
  ["llama_index.agent", 3],
  ["llama_index.callbacks", 3],
  ["llama_index.embeddings", 3],
  ["llama_index.graph_stores", 3],
  ["llama_index.llms", 3],
  ["llama_index.multi_modal_llms", 3],
  ["llama_index.packs", 3],
  ["llama_index.postprocessor", 3],
  ["llama_index.program", 3],
  ["llama_index.question_gen", 3],
  ["llama_index.readers", 3],
  ["llama_index.retrievers", 3],
  ["llama_index.storage", 4],
  ["llama_index.tools", 3],
  ["llama_index.vector_stores", 3],
  ["logilab", 2],
  ["opencensus.ext", 3],
  ["opentelemetry.exporter", 3],
  ["opentelemetry.instrumentation", 3],
  ["opentelemetry.processor", 3],
  ["opentelemetry.propagators", 3],
  ["opentelemetry.resource.detector", 4],
  ["plone", 2],
  ["plone.app", 3],
  ["plone.formwidget", 3],
  ["Products", 2],
  ["repoze", 2],
  ["ruamel", 2],
  ["ruamel.ext", 3],
  ["ruamel.std", 3],
  ["snowflake", 2],
  ["sphinxcontrib", 2],
  ["z3c", 2],
  ["zc", 2],
  ["zc.recipe", 3],
  ["zope", 2],
  ["zope.app", 3],
]);

/** Namespaces whose distributions have names that begin otherwise than with the modules' names. */
const namespacePrefixes: ReadonlyMap<string, string> = new Map([
  ["airflow-providers-", "apache-airflow-providers-"],
  ["opentelemetry-propagators-", "opentelemetry-propagator-"],
]);
