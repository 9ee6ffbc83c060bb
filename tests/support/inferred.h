#pragma once

#include <QString>
#include <QStringList>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/infer.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"
#include "core/tensor/symbolic.h"

namespace sonde::test {

// What inference said of every node of a graph, held against the values of a run.

struct Coverage {
    std::size_t tensors = 0, ranks = 0, shapes = 0, wrong = 0;
    std::size_t values = 0, known = 0;  ///< of any kind; known: all that can be said of it
    std::size_t fixed = 0;              ///< tensors whose dim sizes are all numbers once the inputs are known
    std::map<std::string, std::size_t> unknownOf;  ///< operator → its values of which not all is known

    void add(const Coverage& other) {
        tensors += other.tensors, ranks += other.ranks, shapes += other.shapes, wrong += other.wrong;
        values += other.values, known += other.known, fixed += other.fixed;
        for (const auto& [op, count] : other.unknownOf) unknownOf[op] += count;
    }
};

/// Symbols and the dim sizes that they really have.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// Those of the inputs.
inline Bindings bindingsOf(const document::Document& document, const std::vector<tensor::Value>& inputs) {
    Bindings bindings;
    for (std::size_t i = 0; i < inputs.size() && i < document.graph->inputs().size(); ++i) {
        const tensor::TypeInfo& type = document.graph->node(document.graph->inputs()[i]).type;
        if (!inputs[i].isTensor() || !type.shape || type.shape->size() != inputs[i].tensor().rank()) continue;
        for (std::size_t d = 0; d < type.shape->size(); ++d) {
            const tensor::Dim& dim = (*type.shape)[d];
            if (!dim.known() && !dim.symbol.empty()) bindings.emplace(dim.symbol, inputs[i].tensor().dim(d));
        }
    }
    return bindings;
}

/// What of a type a value contradicts; empty if nothing. A symbol that is met for the first time is bound if `binds`.
inline QString contradiction(const tensor::TypeInfo& type, const tensor::Value& value, Bindings& bindings, bool binds) {
    if (type.kind && *type.kind != value.kind()) return "kind " + QString::fromStdString(value.typeText());
    if (value.isListLike()) {
        const std::vector<tensor::Value>& items = value.items();
        // A list may say of one element what holds for all.
        const bool isOne = type.elements.size() == 1 && type.kind != tensor::ValueKind::Tuple;
        if (!isOne && !type.elements.empty() && type.elements.size() != items.size())
            return QString::fromStdString("number of elements of " + value.typeText());
        for (std::size_t i = 0; i < items.size() && !type.elements.empty(); ++i) {
            const QString what = contradiction(type.elements[isOne ? 0 : i], items[i], bindings, binds && !isOne);
            if (!what.isEmpty()) return what + QString(" in element %1").arg(i);
        }
    }
    if (!value.isTensor()) return {};
    const tensor::Tensor& tensor = value.tensor();
    if (type.dtype != tensor::DType::Undefined && type.dtype != tensor.dtype())
        return QString::fromStdString("dtype of " + value.typeText());
    if (!type.shape) return {};
    if (type.shape->size() != tensor.rank()) return QString::fromStdString("rank of " + value.typeText());
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
        const tensor::Dim& dim = (*type.shape)[i];
        if (binds && !dim.known() && !dim.symbol.empty() && dim.symbol.find_first_of("()+-*/") == std::string::npos)
            bindings.emplace(dim.symbol, tensor.dim(i));
        const auto found = [&bindings](std::string_view name) -> std::optional<std::int64_t> {
            const auto place = bindings.find(name);
            return place == bindings.end() ? std::nullopt : std::optional(place->second);
        };
        const auto dimSize = tensor::Symbolic::of(dim).bound(found).constant();
        if (dimSize && *dimSize != tensor.dim(i))
            return QString::fromStdString("dimension " + std::to_string(i) + " of " + value.typeText());
    }
    return {};
}

inline bool hasAllDimSizes(const tensor::TypeInfo& type) {
    return type.shape &&
           std::ranges::all_of(*type.shape, [](const tensor::Dim& dim) { return dim.known() || !dim.symbol.empty(); });
}

/// Nothing is left to say about the value before a run.
inline bool isKnown(const tensor::TypeInfo& type, const tensor::Value& value) {
    if (!type.kind) return false;
    if (value.isTensor()) return type.dtype != tensor::DType::Undefined && hasAllDimSizes(type);
    if (!value.isListLike() || value.items().empty()) return true;
    if (type.elements.empty()) return false;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
        if (!isKnown(type.elements[std::min(i, type.elements.size() - 1)], value.items()[i])) return false;
    }
    return true;
}

/// Runs the whole graph. `problems` gets a line for each node whose type is not what was inferred.
inline Coverage compared(const document::Document& document, const std::vector<tensor::Value>& inputs,
                         QStringList& problems) {
    Coverage coverage;
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(document.graph, {.watchAll = true});
    if (!plan) {
        problems << QString::fromStdString(plan.error().text());
        return coverage;
    }
    const exec::Recording recording = runner.run(**plan, inputs);
    if (recording.error) problems << QString::fromStdString(recording.error->text());
    Bindings bindings = bindingsOf(document, inputs);
    const graph::InternalGraph here = analysis::typedFor(*document.graph, inputs);
    for (std::size_t i = 0; i < document.graph->nodeCount(); ++i) {
        const graph::NodeId id(i);
        const graph::Node& node = document.graph->node(id);
        if (document.graph->isErased(node.producer) || node.constant) continue;
        const graph::Expr& producer = document.graph->expr(node.producer);
        const std::size_t count = recording.iterations(id);
        for (std::size_t k = 0; k < count; ++k) {
            const tensor::Value& value = *recording.value(id, k);
            if (value.isTensor() && k == 0) {
                ++coverage.tensors;
                coverage.ranks += node.type.shape.has_value() ? 1 : 0;
                coverage.shapes += hasAllDimSizes(node.type) ? 1 : 0;
                coverage.fixed += here.node(id).type.staticShape() ? 1 : 0;
            }
            if (k == 0 && !value.isNone()) {
                const bool known = isKnown(node.type, value);
                ++coverage.values;
                coverage.known += known ? 1 : 0;
                if (!known)
                    ++coverage.unknownOf[producer.op.domain + "::" +
                                         (producer.op.name.empty() ? std::string(graph::name(producer.kind))
                                                                   : producer.op.name)];
            }
            QString what = value.isNone() ? QString() : contradiction(node.type, value, bindings, count == 1);
            if (what.isEmpty() && !value.isNone()) what = contradiction(here.node(id).type, value, bindings, false);
            if (what.isEmpty()) continue;
            ++coverage.wrong;
            problems += QString::fromStdString(document.title + ", node '" + node.name + "' of " + producer.op.name +
                                               ": inferred " + node.type.text() + ", with the inputs " +
                                               here.node(id).type.text() + ", but ") +
                        what;
            break;
        }
    }
    return coverage;
}

inline void print(const QString& name, const Coverage& coverage) {
    const auto share = [&](std::size_t count) {
        return coverage.tensors ? 100.0 * static_cast<double>(count) / static_cast<double>(coverage.tensors) : 100.0;
    };
    std::printf(
        "%-40s %6zu tensors  rank known %6.2f %%  all dimensions %6.2f %%  as numbers with inputs %6.2f %%  wrong %zu\n",
        qPrintable(name), coverage.tensors, share(coverage.ranks), share(coverage.shapes), share(coverage.fixed),
        coverage.wrong);
}

/// in.NAME of a reference file, for the inputs that it has.
inline std::vector<tensor::Value> npzInputs(const document::Document& document, const QString& path,
                                            const std::string& prefix) {
    const auto npz = io::NpzFile::open(path.toStdString());
    std::vector<tensor::Value> inputs(document.graph->inputs().size());
    if (!npz) return inputs;
    for (const document::NamedNode& input : document.inputs) {
        const auto tensor = npz->read(prefix + "in." + input.name);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (document.graph->inputs()[i] == input.node && tensor) inputs[i] = tensor::Value(*tensor);
        }
    }
    return inputs;
}

}  // namespace sonde::test
