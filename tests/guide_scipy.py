"""guide_scipy.py PROGRAM: the statistics of pat-guidelines against SciPy, on 1000 random pairs of samples, with ties, unequal and small.

The z without correction for ties is held against scipy.stats.ranksums, which has none either, and z with it against mannwhitneyu by its
normal approximation without continuity correction. Exit status 77: there is no SciPy here.
"""
import subprocess
import sys

try:
    import numpy
    from scipy import stats
except ImportError:
    print("skipped: no SciPy here (Debian package python3-scipy)")
    sys.exit(77)

random = numpy.random.default_rng(22)
pairs = []
for i in range(1000):
    n = random.integers(2, 21, size=2)
    x, y = (random.exponential(1 + 0.5 * random.random(), size=k) for k in n)
    if i % 2:  # many equal values
        x, y = numpy.round(4 * x) / 4, numpy.round(4 * y) / 4
    if numpy.ptp(x) + numpy.ptp(y) == 0:  # no variance: SciPy has no t
        x[0] += 1
    pairs.append((x, y))
lines = [" ".join([str(len(x)), str(len(y))] + [repr(float(v)) for v in (*x, *y)]) for x, y in pairs]
out = subprocess.run([sys.argv[1], "--pairs"], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
ours = [[float(v) for v in line.split()] for line in out.splitlines()]
assert len(ours) == len(pairs), f"{len(ours)} lines for {len(pairs)} pairs"

names = ["mean", "median", "variance", "t", "p of t", "z, rank-sum", "z, Mann-Whitney", "z with ties", "p of z", "Cliff's delta"]
worst = [0.0] * len(names)
for (x, y), got in zip(pairs, ours):
    t = stats.ttest_ind(y, x, equal_var=True)
    z = stats.ranksums(y, x).statistic
    u = stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=False, alternative="less")
    delta = numpy.mean(numpy.sign(x[:, None] - y[None, :]))
    right = [numpy.mean(x), numpy.median(x), numpy.var(x, ddof=1), t.statistic, stats.t.cdf(t.statistic, len(x) + len(y) - 2),
             z, z, stats.norm.ppf(u.pvalue), u.pvalue, delta]
    assert got[5] == got[6], f"the two Wilcoxon z differ: {got[5]} and {got[6]}"
    for i, (a, b) in enumerate(zip(got, right)):
        worst[i] = max(worst[i], abs(a - b) / max(1, abs(b)))
bad = [name for name, w in zip(names, worst) if not w <= 1e-6]
print("largest difference: " + ", ".join(f"{name} {w:.1e}" for name, w in zip(names, worst)))
print("FAIL: " + ", ".join(bad) if bad else "1000 pairs agree with SciPy")
sys.exit(1 if bad else 0)
