import { familyTable } from "./distribution-families.ts";

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
