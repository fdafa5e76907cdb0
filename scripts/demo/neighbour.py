print("waiting", flush=True)
input()
print("still here")
