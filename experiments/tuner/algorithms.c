/* Five small algorithms with parameters. Each takes an instance, its parameters in the order of its
   space in algorithms.py, a limit and a seed. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MOST 128

static uint64_t state;

static uint64_t next64(void) { /* splitmix64 */
    uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}
static double uniform(void) { return (double)(next64() >> 11) / 9007199254740992.0; }
static int below(int n) { return (int)(uniform() * n); }
static void shuffled(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = below(i + 1), t = a[i];
        a[i] = a[j], a[j] = t;
    }
}

/* ---- tours ---- */

static double length(const double *d, int n, const int *t) {
    double sum = d[t[n - 1] * n + t[0]];
    for (int i = 1; i < n; i++) sum += d[t[i - 1] * n + t[i]];
    return sum;
}

static void nearest(const double *d, int n, int *t) {
    char used[MOST] = {0};
    t[0] = below(n), used[t[0]] = 1;
    for (int i = 1; i < n; i++) {
        int best = -1;
        for (int c = 0; c < n; c++)
            if (!used[c] && (best < 0 || d[t[i - 1] * n + c] < d[t[i - 1] * n + best])) best = c;
        t[i] = best, used[best] = 1;
    }
}

static void reversed(int *t, int i, int j) {
    while (i < j) {
        int x = t[i];
        t[i++] = t[j], t[j--] = x;
    }
}

/* Simulated annealing: move 0 two-opt, 1 swap, 2 insertion, 3 two-opt of near cities. */
double sa_tsp(const double *d, int n, double start, double end, int move, int width,
              int from_nearest, int restarts, int threshold, int moves, uint64_t seed) {
    int t[MOST], u[MOST];
    double best = INFINITY, mean = 0.0;
    state = seed;
    for (int i = 0; i < n * n; i++) mean += d[i] / (n * n);
    for (int r = 0; r < restarts; r++) {
        int each = moves / restarts;
        if (from_nearest) nearest(d, n, t);
        else shuffled(t, n);
        double now = length(d, n, t), heat = start * mean, factor = pow(end, 1.0 / each);
        if (now < best) best = now;
        for (int k = 0; k < each; k++, heat *= factor) {
            int i = below(n), j = below(n);
            if (move == 3) j = (i + 1 + below(width)) % n;
            if (i == j) continue;
            if (i > j) { int x = i; i = j, j = x; }
            double change;
            if (move == 0 || move == 3) {
                if (i == 0 && j == n - 1) continue;
                int a = t[(i + n - 1) % n], b = t[i], c = t[j], e = t[(j + 1) % n];
                change = d[a * n + c] + d[b * n + e] - d[a * n + b] - d[c * n + e];
            } else {
                memcpy(u, t, sizeof(int) * n);
                if (move == 1) { int x = u[i]; u[i] = u[j], u[j] = x; }
                else { int x = u[i]; memmove(u + i, u + i + 1, sizeof(int) * (j - i)); u[j] = x; }
                change = length(d, n, u) - now;
                k += 3; /* it costs about as much as four two-opt moves */
            }
            int accepted = change <= 0 || (threshold ? change < heat
                                                     : uniform() < exp(-change / (heat + 1e-12)));
            if (!accepted) continue;
            if (move == 0 || move == 3) reversed(t, i, j);
            else memcpy(t, u, sizeof(int) * n);
            now += change;
            if (now < best) best = now;
        }
    }
    return best;
}

/* Ant colony: kind 0 ant system, 1 elitist, 2 max-min, 3 ant colony system. */
double aco_tsp(const double *d, int n, int kind, double alpha, double beta, double rho, int ants,
               double q0, double elitist, int local, int near, int tours, uint64_t seed) {
    static double tau[MOST * MOST], eta[MOST * MOST], w[MOST * MOST];
    int t[MOST], best_tour[MOST], round_tour[MOST];
    state = seed;
    nearest(d, n, t);
    memcpy(best_tour, t, sizeof t);
    double best = length(d, n, t), tau0 = 1.0 / (rho * best);
    for (int i = 0; i < n * n; i++) tau[i] = tau0, eta[i] = pow(1.0 / (d[i] + 1e-9), beta);
    for (int done = 0; done < tours;) {
        double round_best = INFINITY;
        for (int i = 0; i < n * n; i++) w[i] = pow(tau[i] / tau0, alpha) * eta[i];
        for (int a = 0; a < ants && done < tours; a++, done++) {
            char used[MOST] = {0};
            t[0] = below(n), used[t[0]] = 1;
            for (int i = 1; i < n; i++) {
                const double *row = w + t[i - 1] * n;
                double sum = 0.0, top = -1.0;
                int at = -1, free[MOST], m = 0;
                for (int c = 0; c < n; c++)
                    if (!used[c]) {
                        free[m++] = c, sum += row[c];
                        if (row[c] > top) top = row[c], at = c;
                    }
                int greedy = kind == 3 && uniform() < q0;
                if (!greedy && sum > 0.0 && isfinite(sum)) {
                    double x = uniform() * sum;
                    for (int k = 0; k < m; k++)
                        if ((x -= row[free[k]]) <= 0.0) { at = free[k]; break; }
                }
                t[i] = at, used[at] = 1;
                if (kind == 3) {
                    double *edge = &tau[t[i - 1] * n + at];
                    *edge = 0.9 * *edge + 0.1 * tau0;
                }
            }
            if (local) { /* one pass of two-opt among the next `near` cities: as dear as two tours */
                done += 2;
                for (int i = 1; i < n - 1; i++)
                    for (int j = i + 1; j < n - 1 && j <= i + near; j++) {
                        int p = t[i - 1], q = t[i], r = t[j], s = t[j + 1];
                        if (d[p * n + r] + d[q * n + s] < d[p * n + q] + d[r * n + s] - 1e-12)
                            reversed(t, i, j);
                    }
            }
            double l = length(d, n, t);
            if (l < round_best) round_best = l, memcpy(round_tour, t, sizeof t);
            if (kind < 2)
                for (int i = 0; i < n; i++) {
                    int p = t[i], q = t[(i + 1) % n];
                    tau[p * n + q] = tau[q * n + p] += 1.0 / l;
                }
        }
        if (round_best < best) best = round_best, memcpy(best_tour, round_tour, sizeof t);
        if (kind < 3)
            for (int i = 0; i < n * n; i++) tau[i] *= 1.0 - rho;
        const int *reinforced = kind == 2 ? round_tour : best_tour;
        double more = kind == 0 ? 0.0 : kind == 1 ? elitist / best : 1.0 / best;
        for (int i = 0; i < n; i++) {
            int p = reinforced[i], q = reinforced[(i + 1) % n];
            double x = tau[p * n + q];
            tau[p * n + q] = tau[q * n + p] = kind == 3 ? (1.0 - rho) * x + rho * more : x + more;
        }
        if (kind == 2)
            for (int i = 0; i < n * n; i++)
                tau[i] = fmin(fmax(tau[i], 1.0 / (rho * best) / (2.0 * n)), 1.0 / (rho * best));
    }
    return best;
}

/* ---- differential evolution of a rotated, shifted function ---- */

static double function(const double *m, const double *shift, int f, int n, const double *x) {
    double z[16], sum = 0.0, other = 0.0;
    for (int i = 0; i < n; i++) {
        z[i] = 0.0;
        for (int j = 0; j < n; j++) z[i] += m[i * n + j] * (x[j] - shift[j]);
    }
    for (int i = 0; i < n; i++) switch (f) {
        case 0: sum += pow(1e4, (double)i / (n - 1)) * z[i] * z[i]; break;
        case 1: sum += 10.0 + z[i] * z[i] - 10.0 * cos(6.283185307179586 * z[i]); break;
        case 2:
            if (i < n - 1) {
                double a = z[i] + 1.0, b = z[i + 1] + 1.0;
                sum += 100.0 * (a * a - b) * (a * a - b) + (a - 1.0) * (a - 1.0);
            }
            break;
        default: sum += z[i] * z[i] / n, other += cos(6.283185307179586 * z[i]) / n;
        }
    if (f == 3) sum = 22.718281828459045 - 20.0 * exp(-0.2 * sqrt(sum)) - exp(other);
    return sum;
}

/* strategy 0 rand/1, 1 best/1, 2 current-to-best/1, 3 rand/2; bounds 0 clip, 1 reflect, 2 anew.
   Returns log10 of the value that is reached; the least value of each function is 0. */
double de(const double *m, const double *shift, int f, int n, int size, double weight, double cr,
          int strategy, int exponential, int bounds, double jitter, int evaluations,
          uint64_t seed) {
    static double x[64][16], trial[16];
    double value[64];
    int best = 0;
    state = seed;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < n; j++) x[i][j] = 10.0 * uniform() - 5.0;
        value[i] = function(m, shift, f, n, x[i]);
        if (value[i] < value[best]) best = i;
    }
    for (int used = size, i = 0; used < evaluations; used++, i = (i + 1) % size) {
        int a = below(size), b = below(size), c = below(size), e = below(size), g = below(size);
        double w = weight * (1.0 + jitter * (uniform() - 0.5));
        int at = below(n), span = n;
        if (exponential)
            for (span = 1; span < n && uniform() < cr;) span++;
        for (int j = 0; j < n; j++) {
            int in = exponential ? (j - at + n) % n < span : j == at || uniform() < cr;
            double v = x[i][j];
            if (in) {
                double diff = w * (x[b][j] - x[c][j]);
                if (strategy == 0) v = x[a][j] + diff;
                else if (strategy == 1) v = x[best][j] + diff;
                else if (strategy == 2) v += w * (x[best][j] - v) + diff;
                else v = x[a][j] + diff + w * (x[e][j] - x[g][j]);
            }
            if (v < -5.0 || v > 5.0) {
                double edge = v < 0 ? -5.0 : 5.0;
                v = bounds == 0 ? edge : bounds == 1 ? 2.0 * edge - v : 10.0 * uniform() - 5.0;
                if (v < -5.0 || v > 5.0) v = edge;
            }
            trial[j] = v;
        }
        double found = function(m, shift, f, n, trial);
        if (found <= value[i]) {
            memcpy(x[i], trial, sizeof trial);
            value[i] = found;
            if (found < value[best]) best = i;
        }
    }
    return log10(value[best] + 1e-8);
}

/* ---- local search for 3-SAT ---- */

static int is_true(int literal, const char *a) { return literal > 0 ? a[literal] : !a[-literal]; }

/* kind 0 WalkSAT, 1 Novelty+, 2 WalkSAT with a tabu list; returns flips, `most` if unsolved. */
double walksat(const int *clauses, int m, int n, int kind, double noise, double walk, int tabu,
               int restart, int by_age, int most, uint64_t seed) {
    static int where[2 * MOST + 1][MOST], count[2 * MOST + 1], unsat[1024], place[1024];
    static int trues[1024];
    char a[MOST];
    int last[MOST], flips = 0;
    state = seed;
    memset(count, 0, sizeof count);
    for (int c = 0; c < m; c++)
        for (int k = 0; k < 3; k++) {
            int l = clauses[3 * c + k] + MOST;
            if (count[l] < MOST) where[l][count[l]++] = c;
        }
    while (1) {
        int n_unsat = 0;
        for (int v = 1; v <= n; v++) a[v] = (char)(next64() & 1), last[v] = -1000000;
        for (int c = 0; c < m; c++) {
            trues[c] = 0;
            for (int k = 0; k < 3; k++) trues[c] += is_true(clauses[3 * c + k], a);
            if (!trues[c]) place[c] = n_unsat, unsat[n_unsat++] = c;
        }
        for (int step = 0; step < restart; step++) {
            if (!n_unsat) return flips;
            if (++flips >= most) return most;
            int c = unsat[below(n_unsat)], breaks[3], chosen = -1, second = -1, youngest = 0;
            for (int k = 0; k < 3; k++) {
                int v = clauses[3 * c + k] < 0 ? -clauses[3 * c + k] : clauses[3 * c + k];
                int l = (a[v] ? v : -v) + MOST;
                breaks[k] = 0;
                for (int i = 0; i < count[l]; i++) breaks[k] += trues[where[l][i]] == 1;
            }
            int vs[3];
            for (int k = 0; k < 3; k++)
                vs[k] = clauses[3 * c + k] < 0 ? -clauses[3 * c + k] : clauses[3 * c + k];
            for (int k = 0; k < 3; k++) {
                if (last[vs[k]] > last[vs[youngest]]) youngest = k;
                if (kind == 2 && flips - last[vs[k]] <= tabu && breaks[k] > 0) continue;
                int better = chosen < 0 || breaks[k] < breaks[chosen] ||
                    (breaks[k] == breaks[chosen] &&
                     (by_age ? last[vs[k]] < last[vs[chosen]] : (int)(next64() & 1)));
                if (better) second = chosen, chosen = k;
                else if (second < 0 || breaks[k] < breaks[second]) second = k;
            }
            if (chosen < 0) continue;
            if (kind == 0 && breaks[chosen] > 0 && uniform() < noise) chosen = below(3);
            if (kind == 1) {
                if (uniform() < walk) chosen = below(3);
                else if (chosen == youngest && second >= 0 && uniform() < noise) chosen = second;
            }
            if (kind == 2 && uniform() < walk) chosen = below(3);
            int v = vs[chosen], on = (a[v] ? -v : v) + MOST, off = (a[v] ? v : -v) + MOST;
            a[v] = !a[v], last[v] = flips;
            for (int i = 0; i < count[on]; i++) {
                int d = where[on][i];
                if (trues[d]++ == 0) {
                    int moved = unsat[--n_unsat];
                    unsat[place[d]] = moved, place[moved] = place[d];
                }
            }
            for (int i = 0; i < count[off]; i++) {
                int d = where[off][i];
                if (--trues[d] == 0) place[d] = n_unsat, unsat[n_unsat++] = d;
            }
        }
    }
}

/* ---- branch and bound for a knapsack with three constraints ---- */

typedef struct {
    int n, order[MOST], nodes, most, first, dominance;
    double profit[MOST], weight[3][MOST], merged[MOST], cap, best;
    double bound_order[MOST];
    int by_ratio[MOST];
} Knapsack;

static double relaxed(const Knapsack *k, int depth, double cap, const char *fixed) {
    double sum = 0.0;
    (void)depth;
    for (int i = 0; i < k->n; i++) { /* Dantzig's bound of the merged constraint */
        int j = k->by_ratio[i];
        if (fixed[j]) continue;
        if (k->merged[j] <= cap) cap -= k->merged[j], sum += k->profit[j];
        else return sum + k->profit[j] * cap / fmax(k->merged[j], 1e-12);
    }
    return sum;
}

static void branch(Knapsack *k, int depth, double value, const double *left, double cap,
                   char *fixed) {
    if (k->nodes >= k->most) return;
    k->nodes++;
    if (value > k->best) k->best = value;
    if (depth == k->n || value + relaxed(k, depth, cap, fixed) < k->best + 1.0 - 1e-9) return;
    int j = k->order[depth];
    fixed[j] = 1;
    for (int turn = 0; turn < 2; turn++) {
        int take = turn == 0 ? k->first : !k->first;
        double rest[3];
        int fits = 1;
        for (int c = 0; c < 3; c++) {
            rest[c] = left[c] - take * k->weight[c][j];
            fits &= rest[c] >= 0.0;
        }
        if (fits)
            branch(k, depth + 1, value + take * k->profit[j], rest,
                   cap - take * k->merged[j], fixed);
    }
    fixed[j] = 0;
}

static void sorted_by(int *order, const double *key, int n) {
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0 && key[order[j - 1]] < key[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
}

/* Nodes until the optimum is proved, `most` if it is not: rule 0 ratio, 1 profit, 2 weight, 3 random.
   `merge` are the multipliers of the merged constraint, `mix` those of the branching ratio. */
double knapsack(const double *profit, const double *weight, const double *cap, int n, int rule,
                double power, double mix0, double mix1, double mix2, double merge0, double merge1,
                double merge2, int skip_first, int greedy, double noise, int most, uint64_t seed) {
    const double mix[3] = {mix0, mix1, mix2}, merge[3] = {merge0, merge1, merge2};
    Knapsack k = {.n = n, .most = most, .first = !skip_first};
    double key[MOST] = {0}, ratio[MOST] = {0};
    char fixed[MOST] = {0};
    state = seed;
    for (int c = 0; c < 3; c++) k.cap += merge[c] * cap[c];
    for (int j = 0; j < n; j++) {
        double mixed = 1e-9;
        k.profit[j] = profit[j];
        for (int c = 0; c < 3; c++) {
            k.weight[c][j] = weight[c * n + j];
            k.merged[j] += merge[c] * weight[c * n + j];
            mixed += mix[c] * weight[c * n + j];
        }
        ratio[j] = profit[j] / fmax(k.merged[j], 1e-12);
        key[j] = rule == 0 ? log(profit[j]) - power * log(mixed)
               : rule == 1 ? log(profit[j]) : rule == 2 ? log(mixed) : 0.0;
        key[j] += (rule == 3 ? 1.0 : noise) * uniform();
    }
    sorted_by(k.by_ratio, ratio, n);
    sorted_by(k.order, key, n);
    if (greedy) { /* a first solution, by the ratio (1) or by the branching order (2) */
        double left[3] = {cap[0], cap[1], cap[2]};
        for (int i = 0; i < n; i++) {
            int j = greedy == 1 ? k.by_ratio[i] : k.order[i], fits = 1;
            for (int c = 0; c < 3; c++) fits &= left[c] >= k.weight[c][j];
            if (!fits) continue;
            for (int c = 0; c < 3; c++) left[c] -= k.weight[c][j];
            k.best += profit[j];
        }
        k.nodes += n / 4;
    }
    branch(&k, 0, 0.0, cap, k.cap, fixed);
    return k.nodes;
}
