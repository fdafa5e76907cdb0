import os
import statistics

heights = [1.62, 1.75, 1.8, 1.68]
print(f"mean {statistics.mean(heights):.2f} m, deviation {statistics.stdev(heights):.2f} m")
print("user", os.getuid(), "in", os.getcwd(), "with variables", sorted(os.environ))
