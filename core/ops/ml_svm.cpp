// Support vector machines, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (SVMClassifier, SVMRegressor).

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/scores.h"
#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

enum class KernelKind { Linear, Poly, Rbf, Sigmoid };

/// K(a, b): a·b; (gamma·a·b + coef0)^degree; exp(−gamma·|a − b|²); tanh(gamma·a·b + coef0).
struct KernelFunction {
    KernelKind kind = KernelKind::Linear;
    double gamma = 0, coef0 = 0, degree = 0;

    static base::Result<KernelFunction> of(const Attributes& attributes) {
        KernelFunction made;
        const std::string name = attributes.getString("kernel_type", "LINEAR");
        constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
        const auto found = std::find(std::begin(kNames), std::end(kNames), name);
        if (found == std::end(kNames)) return opError("kernel_type '" + name + "' is not supported");
        made.kind = static_cast<KernelKind>(found - std::begin(kNames));
        const auto parameters = attributes.getFloats("kernel_params");
        if (!parameters.empty() && parameters.size() != 3)
            return opError("kernel_params has " + std::to_string(parameters.size()) +
                           " numbers instead of gamma, coef0 and degree");
        if (parameters.size() == 3) {
            made.gamma = parameters[0];
            made.coef0 = parameters[1];
            made.degree = parameters[2];
        }
        return made;
    }

    double operator()(const double* a, const double* b, std::size_t count) const {
        double sum = 0;
        if (kind == KernelKind::Rbf) {
            for (std::size_t i = 0; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
            return std::exp(-gamma * sum);
        }
        for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
        if (kind == KernelKind::Poly) return std::pow(gamma * sum + coef0, degree);
        return kind == KernelKind::Sigmoid ? std::tanh(gamma * sum + coef0) : sum;
    }
};

base::Error lengths(const std::string& what, std::size_t has, std::size_t needs) {
    return opError(what + " has " + std::to_string(has) + " numbers, but needs " + std::to_string(needs));
}

/// Features as doubles, row after row.
struct Features {
    Tensor wide;
    FeatureTable table;

    static base::Result<Features> of(const Tensor& x) {
        Features made;
        SONDE_ASSIGN(made.table, featureTable(x));
        SONDE_ASSIGN(made.wide, x.cast(DType::Float64));
        return made;
    }
    std::size_t rows() const { return static_cast<std::size_t>(table.rows); }
    std::size_t columns() const { return static_cast<std::size_t>(table.columns); }
    const double* row(std::size_t r) const { return wide.numel() == 0 ? nullptr : wide.data<double>() + r * columns(); }
};

/// rows×vectors values of the kernel, in parallel over the rows; calls finish(row, values).
template <typename Finish>
void forEachRow(KernelContext& context, const Features& x, const KernelFunction& kernel,
                const std::vector<double>& vectors, std::size_t count, Finish finish) {
    context.pool().parallelFor(x.rows(), 8, [&](std::size_t begin, std::size_t end) {
        std::vector<double> values(count);
        for (std::size_t r = begin; r < end && !context.cancelled(); ++r) {
            for (std::size_t v = 0; v < count; ++v)
                values[v] = kernel(x.row(r), vectors.data() + v * x.columns(), x.columns());
            finish(r, values);
        }
    });
}

// ---- regressor

base::Result<void> svmRegress(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const Features x, Features::of(context.in("X")));
    SONDE_ASSIGN(KernelFunction kernel, KernelFunction::of(attributes));
    const auto coefficients = attributes.getFloats("coefficients"), rho = attributes.getFloats("rho");
    std::vector<double> vectors = attributes.getFloats("support_vectors");
    if (rho.empty()) return opError("has no rho");
    const std::int64_t supports = attributes.getInt("n_supports", 0);
    std::vector<double> weights = coefficients;
    if (supports > 0) {
        if (coefficients.size() < static_cast<std::size_t>(supports))
            return lengths("coefficients", coefficients.size(), static_cast<std::size_t>(supports));
        if (vectors.size() / static_cast<std::size_t>(supports) != x.columns() ||
            vectors.size() % static_cast<std::size_t>(supports) != 0) {
            return opError(std::to_string(vectors.size()) + " numbers do not make " + std::to_string(supports) +
                           " support vectors of " + std::to_string(x.columns()) + " features");
        }
        weights.resize(static_cast<std::size_t>(supports));
    } else {
        // Without support vectors the coefficients are the weights of a linear model.
        if (coefficients.size() != x.columns()) return lengths("coefficients", coefficients.size(), x.columns());
        vectors = coefficients;
        weights = {1};
        kernel.kind = KernelKind::Linear;
    }
    const bool oneClass = attributes.getInt("one_class", 0) != 0;
    std::vector<std::vector<double>> rows(x.rows());
    forEachRow(context, x, kernel, vectors, weights.size(), [&](std::size_t r, const std::vector<double>& values) {
        double sum = rho[0];
        for (std::size_t v = 0; v < weights.size(); ++v) sum += weights[v] * values[v];
        rows[r] = {oneClass ? (sum > 0 ? 1.0 : -1.0) : sum};
    });
    return setScores(context, 0, DType::Float32, rows, 1);
}

// ---- classifier

struct Machine {
    ClassLabels labels;
    KernelFunction kernel;
    std::vector<double> coefficients, rho, probA, probB, vectors;
    std::vector<std::size_t> perClass, starts;  ///< support vectors of each class, and where they begin
    std::size_t vectorCount = 0;
    PostTransform transform = PostTransform::None;
    bool allPositive = true;  ///< no coefficient is negative

    std::size_t classes() const { return labels.size(); }
    std::size_t pairs() const { return classes() * (classes() - 1) / 2; }
    bool isLinear() const { return vectorCount == 0; }
    bool hasProbabilities() const { return !probA.empty(); }
};

base::Result<Machine> readMachine(const Attributes& attributes, std::size_t columns) {
    Machine made;
    SONDE_ASSIGN(made.labels, ClassLabels::of(attributes, "classlabels_ints"));
    SONDE_ASSIGN(made.kernel, KernelFunction::of(attributes));
    SONDE_ASSIGN(made.transform, postTransform(attributes));
    made.coefficients = attributes.getFloats("coefficients");
    made.rho = attributes.getFloats("rho");
    made.probA = attributes.getFloats("prob_a");
    made.probB = attributes.getFloats("prob_b");
    made.vectors = attributes.getFloats("support_vectors");
    made.allPositive = std::all_of(made.coefficients.begin(), made.coefficients.end(), [](double c) { return c >= 0; });
    for (std::int64_t count : attributes.getInts("vectors_per_class")) {
        if (count < 0 || count > (std::int64_t{1} << 32))
            return opError(std::to_string(count) + " support vectors of a class");
        made.starts.push_back(made.vectorCount);
        made.perClass.push_back(static_cast<std::size_t>(count));
        made.vectorCount += static_cast<std::size_t>(count);
    }
    if (made.classes() > 65535) return opError(std::to_string(made.classes()) + " classes are too many");
    if (made.isLinear()) {
        if (made.rho.empty()) return opError("has no rho");
        if (made.coefficients.size() != made.classes() * columns)
            return lengths("coefficients", made.coefficients.size(), made.classes() * columns);
        made.kernel.kind = KernelKind::Linear;
        return made;
    }
    if (made.perClass.size() != made.classes())
        return lengths("vectors_per_class", made.perClass.size(), made.classes());
    if (made.vectors.size() % made.vectorCount != 0 || made.vectors.size() / made.vectorCount != columns) {
        return opError(std::to_string(made.vectors.size()) + " numbers do not make " +
                       std::to_string(made.vectorCount) + " support vectors of " + std::to_string(columns) +
                       " features");
    }
    if (made.coefficients.size() / made.vectorCount < made.classes() - 1)
        return lengths("coefficients", made.coefficients.size(), (made.classes() - 1) * made.vectorCount);
    if (made.rho.size() < made.pairs()) return lengths("rho", made.rho.size(), made.pairs());
    if (made.probA.size() != made.probB.size()) return lengths("prob_b", made.probB.size(), made.probA.size());
    if (made.hasProbabilities() && made.probA.size() < made.pairs())
        return lengths("prob_a", made.probA.size(), made.pairs());
    return made;
}

/// One decision value for each pair of classes (0 1, 0 2, …, 1 2, …); above 0 speaks for the first of the pair. The
/// coefficients of class i against class j stand in row j − 1 for i < j, else in row j.
std::vector<double> pairScores(const Machine& machine, const std::vector<double>& kernel) {
    std::vector<double> scores;
    const auto part = [&](std::size_t of, std::size_t row) {
        double sum = 0;
        for (std::size_t v = machine.starts[of]; v < machine.starts[of] + machine.perClass[of]; ++v)
            sum += machine.coefficients[row * machine.vectorCount + v] * kernel[v];
        return sum;
    };
    for (std::size_t i = 0; i + 1 < machine.classes(); ++i) {
        for (std::size_t j = i + 1; j < machine.classes(); ++j)
            scores.push_back(part(i, j - 1) + part(j, i) + machine.rho[scores.size()]);
    }
    return scores;
}

std::size_t mostVotes(const Machine& machine, const std::vector<double>& scores) {
    std::vector<std::size_t> votes(machine.classes());
    std::size_t pair = 0;
    for (std::size_t i = 0; i + 1 < machine.classes(); ++i) {
        for (std::size_t j = i + 1; j < machine.classes(); ++j) ++votes[scores[pair++] > 0 ? i : j];
    }
    return static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

/// Probabilities of classes from those of pairs, r[i][j] = P(i | i or j): the minimum of
/// ½ Σi Σj≠i (r[j][i]·p[i] − r[i][j]·p[j])² with Σ p = 1, by the iteration of Wu, Lin, Weng, "Probability Estimates for
/// Multi-class Classification by Pairwise Coupling" (JMLR 5, 2004), Algorithm 2.
std::vector<double> coupled(const std::vector<std::vector<double>>& r) {
    const std::size_t k = r.size();
    std::vector<double> p(k, 1.0 / static_cast<double>(k)), qp(k);
    std::vector<std::vector<double>> q(k, std::vector<double>(k));
    for (std::size_t t = 0; t < k; ++t) {
        for (std::size_t j = 0; j < k; ++j) {
            if (j == t) continue;
            q[t][t] += r[j][t] * r[j][t];
            q[t][j] = -r[j][t] * r[t][j];
        }
    }
    constexpr int kMaxRounds = 100;
    const double tolerance = 0.005 / static_cast<double>(k);
    for (int round = 0; round < kMaxRounds; ++round) {
        double pqp = 0, worst = 0;
        for (std::size_t t = 0; t < k; ++t) {
            qp[t] = 0;
            for (std::size_t j = 0; j < k; ++j) qp[t] += q[t][j] * p[j];
            pqp += p[t] * qp[t];
        }
        for (double value : qp) worst = std::max(worst, std::abs(value - pqp));
        if (worst < tolerance) break;
        for (std::size_t t = 0; t < k; ++t) {
            const double step = (pqp - qp[t]) / q[t][t];
            p[t] += step;
            pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / ((1 + step) * (1 + step));
            for (std::size_t j = 0; j < k; ++j) {
                qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
                p[j] /= 1 + step;
            }
        }
    }
    return p;
}

/// Platt's calibration P(first | pair) = 1 / (1 + exp(a·s + b)), kept away from 0 and 1, then coupled.
std::vector<double> probabilities(const Machine& machine, const std::vector<double>& scores) {
    constexpr double kMin = 1e-7;
    std::vector<std::vector<double>> r(machine.classes(), std::vector<double>(machine.classes()));
    std::size_t pair = 0;
    for (std::size_t i = 0; i + 1 < machine.classes(); ++i) {
        for (std::size_t j = i + 1; j < machine.classes(); ++j, ++pair) {
            r[i][j] = std::clamp(logistic(-(scores[pair] * machine.probA[pair] + machine.probB[pair])), kMin, 1 - kMin);
            r[j][i] = 1 - r[i][j];
        }
    }
    return coupled(r);
}

base::Result<void> svmClassify(KernelContext& context) {
    SONDE_ASSIGN(const Features x, Features::of(context.in("X")));
    SONDE_ASSIGN(const Machine machine, readMachine(context.attributes(), x.columns()));
    std::vector<std::size_t> picks(x.rows());
    std::vector<std::vector<double>> rows(x.rows());
    const bool two = machine.classes() == 2;
    if (machine.isLinear()) {
        forEachRow(context, x, machine.kernel, machine.coefficients, machine.classes(),
                   [&](std::size_t r, std::vector<double> scores) {
                       for (double& score : scores) score += machine.rho[0];
                       const auto top = std::max_element(scores.begin(), scores.end());
                       picks[r] = static_cast<std::size_t>(top - scores.begin());
                       if (two && (machine.allPositive ? *top >= 0.5 : *top > 0)) picks[r] = 1;
                       transformScores(scores, machine.transform);
                       rows[r] = std::move(scores);
                   });
    } else {
        forEachRow(context, x, machine.kernel, machine.vectors, machine.vectorCount,
                   [&](std::size_t r, const std::vector<double>& kernel) {
                       std::vector<double> scores = pairScores(machine, kernel);
                       picks[r] = mostVotes(machine, scores);
                       if (machine.hasProbabilities()) {
                           scores = probabilities(machine, scores);
                           transformScores(scores, machine.transform);
                       } else if (two) {
                           scores = twoScores(scores[0],
                                              machine.transform == PostTransform::None ? SecondScore::Opposite
                                                                                       : SecondScore::Complement,
                                              machine.transform);
                       } else {
                           transformScores(scores, machine.transform);
                       }
                       rows[r] = std::move(scores);
                   });
    }
    machine.labels.set(context, picks);
    const std::size_t columns = !machine.isLinear() && !machine.hasProbabilities() && machine.classes() > 2
                                    ? machine.pairs()
                                    : machine.classes();
    for (std::vector<double>& row : rows) row.resize(columns);
    return setScores(context, 1, DType::Float32, rows, columns);
}

// ---- what elements are made of

/// Adds the values of the kernel for a row, by weights: a linear kernel's are sums of the features themselves. Gives
/// the formula of the weighted sum.
base::Result<std::string> addKernels(Dependence& made, const ElementCall& call, std::int64_t row,
                                     const KernelFunction& kernel, std::span<const double> vectors,
                                     std::span<const double> weights) {
    SONDE_ASSIGN(const Features x, Features::of(call.context.in("X")));
    const std::size_t columns = x.columns();
    if (kernel.kind == KernelKind::Linear) {
        const std::uint32_t part = made.listPart("x", "w");
        for (std::size_t c = 0; c < columns; ++c) {
            dependence::addElement(made, part, call, call.context.position("X"),
                                   row * x.table.columns + static_cast<std::int64_t>(c));
            double& weight = made.terms.back().weight = 0;
            for (std::size_t v = 0; v < weights.size(); ++v) weight += weights[v] * vectors[v * columns + c];
        }
        return std::string("sum(w * x)");
    }
    std::vector<double> values;
    for (std::size_t v = 0; v < weights.size(); ++v)
        values.push_back(kernel(x.row(static_cast<std::size_t>(row)), vectors.data() + v * columns, columns));
    dependence::addInside(made, "kernel", values, "w", weights);
    SONDE_TRY(dependence::addFeatures(made, call, row));
    return std::string("sum(w * kernel)");
}

base::Result<Dependence> svmRegressorTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    SONDE_ASSIGN(KernelFunction kernel, KernelFunction::of(attributes));
    std::vector<double> weights = attributes.getFloats("coefficients"),
                        vectors = attributes.getFloats("support_vectors");
    if (const std::int64_t supports = attributes.getInt("n_supports", 0); supports > 0) {
        weights.resize(static_cast<std::size_t>(supports));
    } else {
        vectors = std::exchange(weights, {1.0});
        kernel.kind = KernelKind::Linear;
    }
    Dependence made;
    SONDE_ASSIGN(const std::string sum, addKernels(made, call, call.at.front(), kernel, vectors, weights));
    made.number("rho", attributes.getFloats("rho").at(0));
    const bool oneClass = attributes.getInt("one_class", 0) != 0;
    made.formula = oneClass ? "where(" + sum + " + rho > 0, 1, -1)" : sum + " + rho";
    return made;
}

/// The weights of all support vectors in the decision between the classes i and j, as pairScores() has them.
std::vector<double> pairWeights(const Machine& machine, std::size_t i, std::size_t j) {
    std::vector<double> weights(machine.vectorCount);
    for (const auto& [of, row] : {std::pair(i, j - 1), std::pair(j, i)})
        for (std::size_t v = machine.starts[of]; v < machine.starts[of] + machine.perClass[of]; ++v)
            weights[v] = machine.coefficients[row * machine.vectorCount + v];
    return weights;
}

/// Votes of the pairs choose the label; both they and the scores are numbers inside.
base::Result<void> addVotes(Dependence& made, const Machine& machine, const std::vector<double>& scores) {
    std::vector<double> votes(machine.classes());
    std::size_t pair = 0;
    for (std::size_t i = 0; i + 1 < machine.classes(); ++i)
        for (std::size_t j = i + 1; j < machine.classes(); ++j) ++votes[scores[pair++] > 0 ? i : j];
    return dependence::chooseLabel(made, machine.labels, votes);
}

/// Of a machine without support vectors: a linear model with one rho.
base::Result<Dependence> linearMachineTerms(const ElementCall& call, const Machine& machine, const Features& x) {
    const std::int64_t row = call.at.front();
    std::vector<double> scores;
    for (std::size_t k = 0; k < machine.classes(); ++k)
        scores.push_back(machine.rho[0] + machine.kernel(x.row(static_cast<std::size_t>(row)),
                                                         machine.coefficients.data() + k * x.columns(), x.columns()));
    Dependence made;
    if (call.output == 0) {
        SONDE_TRY(dependence::addFeatures(made, call, row));
        if (machine.classes() == 2) {
            // Of two the second, if the largest score is large enough.
            dependence::addInside(made, "score", scores);
            const std::string limit = machine.allPositive ? "max(score) >= 0.5" : "max(score) > 0";
            SONDE_TRY(dependence::chooseOfTwo(made, machine.labels, "(" + limit + ") | (score[1] > score[0])"));
        } else {
            SONDE_TRY(dependence::chooseLabel(made, machine.labels, scores));
        }
        return made;
    }
    const auto target = static_cast<std::size_t>(call.at.back());
    const std::vector<double> one{1};
    SONDE_ASSIGN(const std::string sum,
                 addKernels(made, call, row, machine.kernel,
                            std::span(machine.coefficients).subspan(target * x.columns(), x.columns()), one));
    made.number("rho", machine.rho[0]);
    dependence::transformScore(made, sum + " + rho", scores, machine.transform);
    return made;
}

base::Result<Dependence> svmClassifierTerms(const ElementCall& call) {
    SONDE_ASSIGN(const Features x, Features::of(call.context.in("X")));
    SONDE_ASSIGN(const Machine machine, readMachine(call.context.attributes(), x.columns()));
    if (machine.isLinear()) return linearMachineTerms(call, machine, x);
    const std::int64_t row = call.at.front();
    std::vector<double> kernels;
    for (std::size_t v = 0; v < machine.vectorCount; ++v)
        kernels.push_back(machine.kernel(x.row(static_cast<std::size_t>(row)), machine.vectors.data() + v * x.columns(),
                                         x.columns()));
    const std::vector<double> scores = pairScores(machine, kernels);
    Dependence made;
    if (call.output == 0) {
        SONDE_TRY(addVotes(made, machine, scores));
        SONDE_TRY(dependence::addFeatures(made, call, row));
        return made;
    }
    if (machine.hasProbabilities())
        return opError("probabilities that are found by iteration from the scores of pairs have no formula");
    // The pair that the element is of.
    const bool two = machine.classes() == 2;
    std::int64_t pair = two ? 0 : call.at.back();
    std::size_t i = 0;
    while (pair >= static_cast<std::int64_t>(machine.classes() - 1 - i))
        pair -= static_cast<std::int64_t>(machine.classes() - 1 - i++);
    SONDE_ASSIGN(const std::string sum, addKernels(made, call, row, machine.kernel, machine.vectors,
                                                   pairWeights(machine, i, i + 1 + static_cast<std::size_t>(pair))));
    made.number("rho", machine.rho[static_cast<std::size_t>(two ? 0 : call.at.back())]);
    if (two) {
        const bool isPlain = machine.transform == PostTransform::None;
        dependence::transformOneOfTwo(made, sum + " + rho", call.at.back(),
                                      isPlain ? SecondScore::Opposite : SecondScore::Complement, machine.transform);
    } else {
        dependence::transformScore(made, sum + " + rho", scores, machine.transform);
    }
    return made;
}

base::Result<void> inferSvmRegressor(InferContext& context) {
    setScoreType(context, 0, 1);
    return {};
}

/// Without probabilities a machine of more than two classes gives a score for each pair.
base::Result<void> inferSvmClassifier(InferContext& context) {
    const std::int64_t classes = setLabelType(context, "classlabels_ints");
    const bool isLinear = context.attributes().getInts("vectors_per_class").empty(),
               hasProbabilities = !context.attributes().getFloats("prob_a").empty();
    setScoreType(context, 1, isLinear || hasProbabilities || classes <= 2 ? classes : -1);
    return {};
}

}  // namespace

void define_ml_svm(Registry& registry) {
    const auto row = [](std::string_view name, std::string_view summary) {
        Row made = mlRow(name, summary);
        made.in("X", kFeatures)
            .out("Y")
            .attr("coefficients", AttributeKind::Floats)
            .attr("kernel_params", AttributeKind::Floats)
            .attrString("kernel_type", "LINEAR")
            .attrString("post_transform", "NONE")
            .attr("rho", AttributeKind::Floats)
            .attr("support_vectors", AttributeKind::Floats);
        return made;
    };
    registry.add(
        row("SVMRegressor", "Regression by a support vector machine, or whether a row belongs to its one class")
            .attrInt("n_supports", 0)
            .attrInt("one_class", 0)
            .runs(svmRegress, inferSvmRegressor));
    registry.add(row("SVMClassifier", "The class that a support vector machine finds, and scores or probabilities")
                     .out("Z")
                     .attrInts("classlabels_ints")
                     .attr("classlabels_strings", AttributeKind::Strings)
                     .attr("prob_a", AttributeKind::Floats)
                     .attr("prob_b", AttributeKind::Floats)
                     .attrInts("vectors_per_class")
                     .runs(svmClassify, inferSvmClassifier));
    explain("ai.onnx.ml", "SVMRegressor", svmRegressorTerms);
    explain("ai.onnx.ml", "SVMClassifier", svmClassifierTerms);
}

}  // namespace sonde::ops
