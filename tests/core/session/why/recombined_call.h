#pragma once

// Asks a rule what elements of a call's results are made of, and computes its formula.

#include <QString>

#include <cmath>
#include <map>
#include <random>

#include "core/base/thread_pool.h"
#include "core/exec/runner.h"
#include "core/ops/dependence/leaves.h"
#include "core/session/why/explanation.h"
#include "core/session/why/formula.h"

namespace sonde::test {

/// How near a recombined value must be, relative to the largest magnitude of the tensor.
inline double recombinedTolerance(tensor::DType dtype) {
    switch (dtype) {
        case tensor::DType::Float16: return 4e-3;
        case tensor::DType::BFloat16: return 3e-2;
        case tensor::DType::Float64: return 1e-6;
        default: return 1e-4;
    }
}

inline double largestMagnitude(const tensor::Tensor& tensor) {
    double largest = 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const double x = std::fabs(tensor.toDouble(i));
        if (std::isfinite(x)) largest = std::max(largest, x);
    }
    return largest;
}

inline bool isNear(double actual, double expected, double tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
    return std::fabs(actual - expected) <= tolerance;
}

/// Up to `count` elements of a tensor, other ones for each seed, the first and last among them.
inline std::vector<std::int64_t> someElements(std::int64_t numel, std::size_t count, std::uint32_t seed) {
    if (numel == 0) return {};
    std::vector<std::int64_t> elements{0, numel - 1};
    std::mt19937 random(seed);
    while (elements.size() < count)
        elements.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(numel)));
    return elements;
}

/// One call of an operator with the results that it should have.
struct RecombinedCall {
    const ops::OpDef* op = nullptr;
    std::vector<tensor::Value> inputs;
    tensor::Attributes attributes = {};
    std::vector<tensor::Value> results = {};
    int version = 0;

    std::size_t checked = 0, refused = 0;  ///< elements whose formula was computed, and those that have none
    QString refusal = {};
    double slack = 0;  ///< by which the formula may be off

    /// What is wrong with some elements of all results; empty if nothing is.
    QString problem(std::size_t perTensor = 6) {
        for (std::size_t output = 0; output < results.size(); ++output) {
            const bool isList = results[output].isListLike();
            const std::size_t members = isList ? results[output].items().size() : 1;
            for (std::size_t member = 0; member < members; ++member) {
                const tensor::Value& value = isList ? results[output].items()[member] : results[output];
                if (!value.isTensor() || value.tensor().dtype() == tensor::DType::String ||
                    tensor::isComplex(value.tensor().dtype()))
                    continue;
                for (const std::int64_t element :
                     someElements(value.tensor().numel(), perTensor, static_cast<std::uint32_t>(output))) {
                    const QString text = wrongElement(value.tensor(), output, member, element);
                    if (!text.isEmpty()) return text;
                }
            }
        }
        return {};
    }

  private:
    QString wrongElement(const tensor::Tensor& tensor, std::size_t output, std::size_t member, std::int64_t element) {
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        ops::DependenceQuestion question{op, inputs, &attributes, results};
        question.output = output, question.member = member, question.element = element, question.version = version;
        const auto found = ops::findDependence(question, environment);
        if (!found) {
            ++refused;
            refusal = QString::fromStdString(found.error().what);
            return {};
        }
        const auto value = session::why::recombined(*found);
        const QString where = QString("output %1 element %2: ").arg(output).arg(element);
        if (const QString wrong = wrongTerm(*found); !wrong.isEmpty()) return where + wrong;
        if (!value) return where + QString::fromStdString(found->formula + ": " + value.error().text());
        ++checked;
        const double expected = tensor.toDouble(element);
        if (isNear(*value, expected,
                   recombinedTolerance(tensor.dtype()) * std::max(largestMagnitude(tensor), 0.1) + slack))
            return {};
        return where + QString("%1 gives %2, but the value is %3")
                           .arg(QString::fromStdString(found->formula))
                           .arg(*value)
                           .arg(expected);
    }

    /// Values and weights are the elements of the inputs that terms name.
    QString wrongTerm(const ops::Dependence& found) const {
        const auto isOther = [this](std::uint32_t input, std::uint32_t member, std::int64_t element, double named) {
            const tensor::Value* const value = input < inputs.size() ? ops::leafOf(inputs[input], member) : nullptr;
            if (!value || !value->isTensor()) return false;
            const double own = value->tensor().contiguous()->toDouble(element);
            return own != named && !(std::isnan(own) && std::isnan(named));
        };
        for (const ops::DependenceTerm& term : found.terms) {
            const QString part = QString::fromStdString(found.parts[term.part].name);
            if (!term.isOutput && isOther(term.input, term.member, term.element, term.value))
                return QString("a term of %1 has another value than its element").arg(part);
            if (isOther(term.weightInput, term.weightMember, term.weightElement, term.weight))
                return QString("a weight of %1 is another than its element").arg(part);
        }
        return {};
    }
};

/// The values of a run that was recorded, with others in place of some.
class RecordedReader : public session::why::Reader {
  public:
    RecordedReader(const graph::InternalGraph& graph, const exec::Recording& recording)
        : m_graph(graph), m_recording(recording) {}
    std::map<graph::NodeId, tensor::Value> expected;

    base::Result<tensor::Value> value(graph::NodeId node) override {
        if (const auto found = expected.find(node); found != expected.end()) return found->second;
        if (m_recording.iterations(node) > 0) return *m_recording.value(node, 0);
        if (m_graph.node(node).constant) return *m_graph.node(node).constant;
        return base::usageError("not computed");
    }

  private:
    const graph::InternalGraph& m_graph;
    const exec::Recording& m_recording;
};

}  // namespace sonde::test
