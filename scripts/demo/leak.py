import sys
import urllib.request

try:
    urllib.request.urlopen("http://collector.example.net/", data=b"what it found", timeout=10)
except OSError as error:
    sys.exit(f"not sent: {error}")
