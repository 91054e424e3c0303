/* Ensemble sampling and Thompson sampling as a good C programmer writes them: the yardstick.

   The canonical problem: prior N(0, I), unit noise, K arms in R^d, one run, one thread. The ensemble is
   deferred as that of fastes is: a model takes in what it has missed when it is read, one normal for
   each arm that was played since, times the root of how often. Arms are scored in double precision.

   It does less than fastes: ties go to the first arm, nothing is computed afresh against rounding,
   random numbers depend on the order of the draws, and the counters of all models take M x K places.

   cc -O3 -march=native -ffast-math -shared -fPIC yardstick.c -o yardstick.so -lm */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 64, LANES = 8, PARTS = TILE / LANES };
typedef double vector __attribute__((vector_size(8 * LANES), aligned(8)));

/* ------------------------------------------------------------------ random numbers */

typedef struct {
    uint64_t word[4];
} generator;

static inline uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* xoshiro256++ */
static inline uint64_t next_bits(generator *g) {
    uint64_t *w = g->word, out = rotated(w[0] + w[3], 23) + w[0], kept = w[1] << 17;
    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= kept;
    w[3] = rotated(w[3], 45);
    return out;
}

static generator seeded(uint64_t seed) {
    generator g;
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t x = seed += 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        g.word[i] = x ^ x >> 31;
    }
    return g;
}

static inline double uniform(generator *g) { return ((next_bits(g) >> 11) + 0.5) * 0x1p-53; }

static inline int64_t below(generator *g, int64_t n) {
    return (int64_t)((unsigned __int128)next_bits(g) * (uint64_t)n >> 64);
}

/* The ziggurat: layers of equal area under exp(-x^2 / 2), the lowest with the tail. */
enum { LAYERS = 256 };
static const double TAIL = 3.6541528853610088, AREA = 0.00492867323399;
static double edge[LAYERS + 1], inner[LAYERS]; /* where layers end; the share that is surely inside */

static double bell(double x) { return exp(-0.5 * x * x); }

__attribute__((constructor)) static void lay_out(void) {
    edge[0] = AREA / bell(TAIL);
    edge[1] = TAIL;
    for (int i = 2; i < LAYERS; i++)
        edge[i] = sqrt(-2.0 * log(AREA / edge[i - 1] + bell(edge[i - 1])));
    edge[LAYERS] = 0.0;
    for (int i = 0; i < LAYERS; i++) inner[i] = edge[i + 1] / edge[i];
}

__attribute__((noinline)) static double from_the_tail(generator *g, double sign) {
    double beyond, height;
    do {
        beyond = -log(uniform(g)) / TAIL;
        height = -log(uniform(g));
    } while (2.0 * height < beyond * beyond);
    return copysign(TAIL + beyond, sign);
}

static inline double normal(generator *g) {
    for (;;) {
        uint64_t bits = next_bits(g);
        int layer = bits & (LAYERS - 1);
        double share = (double)((int64_t)bits >> 11) * 0x1p-52;
        if (fabs(share) < inner[layer]) return share * edge[layer];
        if (layer == 0) return from_the_tail(g, share);
        double x = share * edge[layer], low = bell(edge[layer]), high = bell(edge[layer + 1]);
        if (low + uniform(g) * (high - low) < bell(x)) return x;
    }
}

/* ------------------------------------------------------------------ the problem */

typedef struct {
    long K, d, tiles;
    const double *rows; /* K x d */
    double *tiled;      /* tiles x d x TILE: scores of a tile need no horizontal sums */
    double *values;     /* K: mean rewards */
    double best;
} problem;

static void *zeros(size_t count, size_t size) {
    void *place = NULL;
    if (posix_memalign(&place, 64, (count + 1) * size + 64)) abort();
    return memset(place, 0, (count + 1) * size);
}

static problem drawn(const double *rows, long K, long d, generator *g) {
    problem p = {K, d, (K + TILE - 1) / TILE, rows, NULL, NULL, -DBL_MAX};
    p.tiled = zeros(p.tiles * d * TILE, sizeof(double));
    p.values = zeros(K, sizeof(double));
    double *theta = zeros(d, sizeof(double));
    for (long j = 0; j < d; j++) theta[j] = normal(g);
    for (long a = 0; a < K; a++) {
        double value = 0.0;
        for (long j = 0; j < d; j++) {
            double x = rows[a * d + j];
            p.tiled[(a / TILE * d + j) * TILE + a % TILE] = x;
            value += x * theta[j];
        }
        p.values[a] = value;
        if (value > p.best) p.best = value;
    }
    free(theta);
    return p;
}

static void release(problem *p) {
    free(p->tiled);
    free(p->values);
}

/* The first arm of the largest score. */
static long best_arm(const problem *p, const double *z) {
    double best = -DBL_MAX;
    long found = 0;
    for (long tile = 0; tile < p->tiles; tile++) {
        const double *b = p->tiled + tile * p->d * TILE;
        union {
            vector part[PARTS];
            double each[TILE];
        } score;
        memset(&score, 0, sizeof score);
        for (long j = 0; j < p->d; j++, b += TILE) {
            const vector *arms = (const vector *)b;
            for (int i = 0; i < PARTS; i++) score.part[i] += z[j] * arms[i];
        }
        long here = p->K - tile * TILE < TILE ? p->K - tile * TILE : TILE;
        double top = -DBL_MAX;
        if (here == TILE)
            for (int i = 0; i < TILE; i++) top = score.each[i] > top ? score.each[i] : top;
        else
            for (int i = 0; i < here; i++) top = score.each[i] > top ? score.each[i] : top;
        if (top > best) {
            best = top;
            for (int i = 0; i < here; i++)
                if (score.each[i] == top) {
                    found = tile * TILE + i;
                    break;
                }
        }
    }
    return found;
}

/* ------------------------------------------------------------------ vectors */

static inline double dot(const double *x, const double *y, long n) {
    double sum = 0.0;
    for (long j = 0; j < n; j++) sum += x[j] * y[j];
    return sum;
}

/* out += sum_i weight[i] * row i, four rows at a time; row i is rows[index[i]], or rows[i] */
static void add_rows(const double *rows, const long *index, const double *weight, long n, long d, double *out) {
    long i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *r0 = rows + d * (index ? index[i] : i), *r1 = rows + d * (index ? index[i + 1] : i + 1);
        const double *r2 = rows + d * (index ? index[i + 2] : i + 2), *r3 = rows + d * (index ? index[i + 3] : i + 3);
        double w0 = weight[i], w1 = weight[i + 1], w2 = weight[i + 2], w3 = weight[i + 3];
        for (long j = 0; j < d; j++) out[j] += (w0 * r0[j] + w1 * r1[j]) + (w2 * r2[j] + w3 * r3[j]);
    }
    for (; i < n; i++) {
        const double *row = rows + d * (index ? index[i] : i);
        for (long j = 0; j < d; j++) out[j] += weight[i] * row[j];
    }
}

/* ------------------------------------------------------------------ ensemble sampling */

typedef struct {
    long M;
    double *xi;       /* M x d: models in information space */
    char *begun;      /* M: whether a model was ever read */
    long *arm_at;     /* slots: the arms in the order of their first plays */
    long *slot_of;    /* K: the slot of an arm, or -1 */
    uint32_t *plays;  /* slots: how often each was played */
    uint32_t *known;  /* M x K: how often when the model was read last */
    long slots;
    long *missed;     /* scratch: arms, and their weights */
    double *weight;
} ensemble;

static ensemble started(const problem *p, long M) {
    ensemble e = {.M = M, .slots = 0};
    e.xi = zeros(M * p->d, sizeof(double));
    e.begun = zeros(M, 1);
    e.arm_at = zeros(p->K, sizeof(long));
    e.slot_of = zeros(p->K, sizeof(long));
    e.plays = zeros(p->K, sizeof(uint32_t));
    e.known = calloc((size_t)M * p->K + 1, sizeof(uint32_t)); /* touched where it is used only */
    if (!e.known) abort();
    e.missed = zeros(p->K, sizeof(long));
    e.weight = zeros(p->K, sizeof(double));
    for (long a = 0; a < p->K; a++) e.slot_of[a] = -1;
    return e;
}

static void ended(ensemble *e) {
    free(e->xi), free(e->begun), free(e->arm_at), free(e->slot_of), free(e->plays), free(e->known);
    free(e->missed), free(e->weight);
}

/* Bring a model up to date: xi += sum over arms of sqrt(plays missed) * normal * b. */
static double *caught_up(ensemble *e, const problem *p, long m, generator *g) {
    double *xi = e->xi + m * p->d;
    uint32_t *known = e->known + m * p->K;
    if (!e->begun[m]) {
        e->begun[m] = 1;
        for (long j = 0; j < p->d; j++) xi[j] = normal(g);
    }
    long n = 0;
    for (long s = 0; s < e->slots; s++) {
        uint32_t missed = e->plays[s] - known[s];
        e->missed[n] = e->arm_at[s];
        e->weight[n] = missed;
        n += missed > 0;
    }
    memcpy(known, e->plays, e->slots * sizeof(uint32_t));
    for (long i = 0; i < n; i++) e->weight[i] = sqrt(e->weight[i]) * normal(g);
    add_rows(p->rows, e->missed, e->weight, n, p->d, xi);
    return xi;
}

static void played_once_more(ensemble *e, long arm) {
    if (e->slot_of[arm] < 0) {
        e->arm_at[e->slots] = arm;
        e->slot_of[arm] = e->slots++;
    }
    e->plays[e->slot_of[arm]]++;
}

/* mean (d), covariance (d x d) and models (M x d, in information space) are left as they are at
   the end; arms and rewards (T) are what was played. Where models is NULL, none is brought up to date. */
double ensemble_sampling(const double *rows, long K, long d, long M, long T, uint64_t seed, double *mean,
                         double *S, double *models, int64_t *arms, double *rewards) {
    generator g = seeded(seed);
    problem p = drawn(rows, K, d, &g);
    ensemble e = started(&p, M);
    double *z = zeros(d, sizeof(double)), *v = zeros(d, sizeof(double)), regret = 0.0;
    memset(mean, 0, d * sizeof(double));
    memset(S, 0, d * d * sizeof(double));
    for (long i = 0; i < d; i++) S[i * d + i] = 1.0;
    for (long t = 0; t < T; t++) {
        const double *xi = caught_up(&e, &p, below(&g, M), &g);
        memcpy(z, mean, d * sizeof(double));
        add_rows(S, NULL, xi, d, d, z);
        long arm = best_arm(&p, z);
        const double *b = rows + arm * d;
        double reward = p.values[arm] + normal(&g);
        arms[t] = arm;
        rewards[t] = reward;
        regret += p.best - p.values[arm];
        played_once_more(&e, arm);
        /* S -= v v' / (1 + b'v) and mean += v (reward - b'mean) / (1 + b'v), v = S b */
        memset(v, 0, d * sizeof(double));
        add_rows(S, NULL, b, d, d, v);
        double scale = 1.0 / (1.0 + dot(b, v, d)), gain = scale * (reward - dot(b, mean, d));
        for (long j = 0; j < d; j++) mean[j] += gain * v[j];
        for (long i = 0; i < d; i++) {
            double factor = scale * v[i], *row = S + i * d;
            for (long j = 0; j < d; j++) row[j] -= factor * v[j];
        }
    }
    for (long m = 0; models && m < M; m++)
        memcpy(models + m * d, caught_up(&e, &p, m, &g), d * sizeof(double));
    ended(&e), release(&p), free(z), free(v);
    return regret;
}

/* ------------------------------------------------------------------ Thompson sampling */

/* Q (d x d) with S = Q'Q. With w = Q b, Q becomes Q - beta w v', v = Q'w = S b,
   beta = 1 / (1 + w'w + sqrt(1 + w'w)). A pass over Q makes w and v; one changes Q and draws from it. */
double thompson_sampling(const double *rows, long K, long d, long T, uint64_t seed, double *mean, double *Q,
                         double *another, int64_t *arms, double *rewards) {
    generator g = seeded(seed);
    problem p = drawn(rows, K, d, &g);
    double *z = another, *v = zeros(d, sizeof(double)), *w = zeros(d, sizeof(double));
    double *n = zeros(d, sizeof(double)), regret = 0.0;
    memset(mean, 0, d * sizeof(double));
    memset(Q, 0, d * d * sizeof(double));
    for (long i = 0; i < d; i++) Q[i * d + i] = 1.0, z[i] = normal(&g);
    for (long t = 0; t < T; t++) {
        long arm = best_arm(&p, z);
        const double *b = rows + arm * d;
        double reward = p.values[arm] + normal(&g);
        arms[t] = arm;
        rewards[t] = reward;
        regret += p.best - p.values[arm];
        for (long i = 0; i < d; i++) w[i] = dot(Q + i * d, b, d), n[i] = normal(&g);
        memset(v, 0, d * sizeof(double));
        add_rows(Q, NULL, w, d, d, v);
        double square = dot(w, w, d), beta = 1.0 / (1.0 + square + sqrt(1.0 + square));
        double gain = (reward - dot(b, mean, d)) / (1.0 + square);
        for (long j = 0; j < d; j++) mean[j] += gain * v[j];
        memcpy(z, mean, d * sizeof(double));
        for (long i = 0; i < d; i++) {
            double factor = beta * w[i], draw = n[i], *row = Q + i * d;
            for (long j = 0; j < d; j++) {
                row[j] -= factor * v[j];
                z[j] += draw * row[j];
            }
        }
    }
    release(&p), free(v), free(w), free(n);
    return regret;
}
