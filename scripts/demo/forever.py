import subprocess
import sys

# One stays in its group, one leaves it, as daemons do.
for is_daemon in (False, True):
    subprocess.Popen(["sleep", sys.argv[1]], start_new_session=is_daemon)
print("two helpers started", flush=True)
while True:
    pass
