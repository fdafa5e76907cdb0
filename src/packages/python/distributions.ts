/**
 * Modules whose distribution has another name than theirs, each line `distribution: modules`. Where several
 * distributions bring a module, it is the one with wheels that is installed most.
 */
const table = `
absl-py: absl
Adafruit-Blinka: board busio digitalio
antlr4-python3-runtime: antlr4
apache-airflow: airflow
apache-airflow-providers-amazon: airflow.providers.amazon
apache-airflow-providers-google: airflow.providers.google
apache-airflow-providers-http: airflow.providers.http
apache-airflow-providers-postgres: airflow.providers.postgres
apache-flink: pyflink
appengine-python-standard: google.appengine
argon2-cffi: argon2
atlassian-python-api: atlassian
attrs: attr
aws-cdk-lib: aws_cdk
azure-monitor-opentelemetry-exporter: azure.monitor.opentelemetry.exporter
azure-search-documents: azure.search azure.search.documents
beautifulsoup4: bs4
biopython: Bio
camelot-py: camelot
cassandra-driver: cassandra
cattrs: cattr
cffi: _cffi_backend
cloud-sql-python-connector: google.cloud.sql
cython: pyximport
databricks-sql-connector: databricks.sql
dbus-python: dbus
delta-spark: delta
discord.py: discord
django-allauth: allauth
django-axes: axes
django-ckeditor: ckeditor
django-compressor: compressor
django-constance: constance
django-cors-headers: corsheaders
django-crispy-forms: crispy_forms
django-debug-toolbar: debug_toolbar
django-environ: environ
django-filter: django_filters
django-guardian: guardian
django-import-export: import_export
django-model-utils: model_utils
django-mptt: mptt
django-oauth-toolkit: oauth2_provider
django-polymorphic: polymorphic
django-reversion: reversion
django-silk: silk
django-simple-history: simple_history
django-storages: storages
django-taggit: taggit
django-tinymce: tinymce
django-waffle: waffle
djangorestframework: rest_framework
djangorestframework-simplejwt: rest_framework_simplejwt
dm-haiku: haiku
dm-sonnet: sonnet
dm-tree: tree
dnspython: dns
facebook-sdk: facebook
factory-boy: factory
faiss-cpu: faiss
ffmpeg-python: ffmpeg
fpdf2: fpdf
future: past libfuturize libpasteurize
GDAL: osgeo ogr osr
gevent-websocket: geventwebsocket
GitPython: git
google-analytics-data: google.analytics.data google.analytics.data_v1beta
google-api-python-client: apiclient googleapiclient
google-auth: google.oauth2
google-cloud-aiplatform: vertexai
google-cloud-audit-log: google.cloud.audit
google-cloud-core: google.cloud.client google.cloud.environment_vars google.cloud.exceptions google.cloud.obsolete
google-cloud-firestore: google.cloud.firestore_admin_v1
google-cloud-resource-manager: google.cloud.resourcemanager google.cloud.resourcemanager_v3
google-cloud-secret-manager: google.cloud.secretmanager google.cloud.secretmanager_v1
google-cloud-video-transcoder: google.cloud.video.transcoder google.cloud.video.transcoder_v1
google-search-results: serpapi
googleapis-common-protos: google.api google.logging google.longrunning google.rpc google.type
googlesearch-python: googlesearch
graphql-core: graphql
grpc-google-iam-v1: google.iam
grpcio: grpc
grpcio-health-checking: grpc_health
grpcio-reflection: grpc_reflection
grpcio-status: grpc_status
grpcio-tools: grpc_tools
haystack-ai: haystack
hydra-core: hydra
ibis-framework: ibis
imbalanced-learn: imblearn
impyla: impala
jpype1: jpype
kafka-python: kafka
keystone-engine: keystone
launchdarkly-server-sdk: ldclient
libsass: sass sassutils
line-bot-sdk: linebot
linkify-it-py: linkify_it
llama-cpp-python: llama_cpp
markdown-it-py: markdown_it
matplotlib: mpl_toolkits pylab
mecab-python3: MeCab
mkdocs-material: material
msgpack: umsgpack
msgraph-sdk: msgraph
mysql-connector-python: mysql
mysqlclient: MySQLdb _mysql
nats-py: nats
ndg-httpsclient: ndg
newspaper3k: newspaper
nvidia-ml-py: pynvml
odfpy: odf
Office365-REST-Python-Client: office365
open-clip-torch: open_clip
openai-agents: agents
openai-whisper: whisper
openbabel-wheel: openbabel
opencv-python: cv2
opensearch-py: opensearchpy
openstacksdk: openstack
opentelemetry-api: opentelemetry
opentelemetry-exporter-otlp-proto-grpc: opentelemetry.exporter.otlp.proto.grpc
opentelemetry-exporter-otlp-proto-http: opentelemetry.exporter.otlp.proto.http
opentelemetry-sdk: opentelemetry.sdk
opentelemetry-semantic-conventions: opentelemetry.semconv
paho-mqtt: paho
panda3d: direct
PasteDeploy: paste.deploy
patool: patoolib
pdfminer.six: pdfminer
peewee: playhouse
Pillow: PIL
progressbar2: progressbar
protobuf: google.protobuf google._upb
psycopg2-binary: psycopg2
pwntools: pwn pwnlib
py-cpuinfo: cpuinfo
py-solc-x: solcx
pyahocorasick: ahocorasick
pybullet: pybullet_data
pycairo: cairo
pycollada: collada
pycryptodome: Crypto
pycryptodomex: Cryptodome
pycurl: curl
PyDispatcher: pydispatch
pyenchant: enchant
PyGithub: github
PyGObject: gi
PyHamcrest: hamcrest
pyjks: jks
PyJWT: jwt
pymilvus: milvus_lite
pymongo: bson gridfs
PyMuPDF: fitz
PyNaCl: nacl
pyobjc-core: objc
pyobjc-framework-Cocoa: AppKit Foundation
pyobjc-framework-Quartz: Quartz
PyOpenGL: OpenGL
pyOpenSSL: OpenSSL
PyPubSub: pubsub
pysaml2: saml2
pyserial: serial
pyshp: shapefile
pysmb: smb
PySocks: socks sockshandler
pytest: _pytest
python-arango: arango
python-barcode: barcode
python-bidi: bidi
python-binance: binance
python-box: box
python-can: can
python-consul: consul
python-crontab: crontab
python-dateutil: dateutil
python-decouple: decouple
python-digitalocean: digitalocean
python-docx: docx
python-dotenv: dotenv
python-engineio: engineio
python-gitlab: gitlab
python-gnupg: gnupg
python-hcl2: hcl2
python-jenkins: jenkins
python-jose: jose
python-json-logger: pythonjsonlogger
python-ldap: ldap
python-logstash: logstash
python-louvain: community
python-lsp-server: pylsp
python-magic: magic
python-memcached: memcache
python-multipart: multipart
python-nmap: nmap
python-novaclient: novaclient
python-pam: pam
python-pptx: pptx
python-rapidjson: rapidjson
python-rtmidi: rtmidi
python-slugify: slugify
python-snappy: snappy
python-socketio: socketio
python-stdnum: stdnum
python-swiftclient: swiftclient
python-telegram-bot: telegram
python-twitter: twitter
python-ulid: ulid
python-vlc: vlc
python-whois: whois
python-xlib: Xlib
python3-saml: onelogin
pythonnet: clr
pyusb: usb
PyWavelets: pywt
pywebview: webview
pyWin32: pythoncom pywintypes win32api win32clipboard win32com win32con win32event win32file win32gui win32net win32pipe win32process win32security win32service win32serviceutil winerror
pyxdg: xdg
PyYAML: yaml _yaml
pyzmq: zmq
readability-lxml: readability
robotframework: robot
RPi.GPIO: RPi
ruamel.yaml: ruamel
scikit-bio: skbio
scikit-build: skbuild
scikit-fuzzy: skfuzzy
scikit-image: skimage
scikit-learn: sklearn
scikit-learn-extra: sklearn_extra
scikit-optimize: skopt
scikit-plot: scikitplot
scikit-surprise: surprise
scikit-survival: sksurv
segment-analytics-python: analytics
setuptools: pkg_resources
slack-sdk: slack
smbprotocol: smbclient
snowflake-connector-python: snowflake.connector
snowflake-snowpark-python: snowflake.snowpark
social-auth-app-django: social_django
SpeechRecognition: speech_recognition
sseclient-py: sseclient
stomp.py: stomp
strawberry-graphql: strawberry
streamlit-aggrid: st_aggrid
systemd-python: systemd
TA-Lib: talib
tabula-py: tabula
tavily-python: tavily
tencentcloud-sdk-python: tencentcloud
torch: functorch torchgen
tortoise-orm: tortoise
uc-micro-py: uc_micro
umap-learn: umap
unittest-xml-reporting: xmlrunner
vcrpy: vcr
vtk: vtkmodules
weaviate-client: weaviate
web.py: web
websocket-client: websocket
Wikipedia-API: wikipediaapi
wxPython: wx
yoyo-migrations: yoyo
z3-solver: z3
`;

/** Dotted path of a module to the distribution that brings it. */
export const distributions: ReadonlyMap<string, string> = new Map(
  table
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [distribution = "", modules = ""] = line.split(": ");
      return modules.split(" ").map((module): [string, string] => [module, distribution]);
    }),
);
