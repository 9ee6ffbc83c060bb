#pragma once

// Calls of operators on random numbers, whose results' elements are explained and recombined.

#include <random>

#include "tests/core/session/why/recombined_call.h"

namespace sonde::test {

struct RandomSource {
    std::mt19937 random;

    explicit RandomSource(int seed) : random(static_cast<std::uint32_t>(seed)) {}
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool coin() { return between(0, 1) == 1; }
    tensor::Tensor tensor(const tensor::Shape& shape, double low = -2, double high = 2) {
        std::vector<float> values(static_cast<std::size_t>(shape.numel()));
        std::uniform_real_distribution<double> number(low, high);
        for (float& value : values) value = static_cast<float>(number(random));
        return tensor::Tensor::of<float>(shape, values);
    }
    tensor::Tensor indices(const tensor::Shape& shape, std::int64_t below) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(shape.numel()));
        for (std::int64_t& value : values) value = between(0, below - 1);
        return tensor::Tensor::of<std::int64_t>(shape, values);
    }
    tensor::Shape shape(std::size_t rank, std::int64_t low = 1, std::int64_t high = 5) {
        tensor::Shape shape;
        while (shape.rank() < rank) shape.push_back(between(low, high));
        return shape;
    }
    /// Broadcast to `shape`: with dimensions of 1, and fewer of them.
    tensor::Shape narrower(const tensor::Shape& shape) {
        tensor::Shape made;
        for (std::size_t d = static_cast<std::size_t>(between(0, static_cast<std::int64_t>(shape.rank())));
             d < shape.rank(); ++d)
            made.push_back(coin() ? shape[d] : 1);
        return made;
    }
};

inline tensor::Value list(const std::vector<std::int64_t>& numbers) {
    tensor::ValueList items;
    for (const std::int64_t number : numbers) items.push_back(tensor::Value::ofInt(number));
    return tensor::Value::list(std::move(items));
}

/// What is wrong with the elements of the kernel's own results, its first `outputs`; also if there are none with a
/// formula. Empty: nothing.
inline QString checked(std::string_view domain, std::string_view name, std::vector<tensor::Value> inputs,
                       tensor::Attributes attributes = {}, int version = 0, std::size_t outputs = 1) {
    RecombinedCall call;
    call.op = ops::Registry::all().find(domain, name, version);
    if (!call.op) return QStringLiteral("is not known");
    call.inputs = std::move(inputs);
    call.attributes = std::move(attributes);
    call.version = version;
    for (std::size_t i = call.inputs.size(); i < call.op->parameters.size(); ++i)
        call.inputs.push_back(call.op->parameters[i].fallback.value_or(tensor::Value()));
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    auto results = ops::call(*call.op, call.inputs, call.attributes, outputs, environment, version);
    if (!results) return QString::fromStdString(results.error().text());
    call.results = std::move(*results);
    const QString problem = call.problem(12);
    if (!problem.isEmpty()) return problem;
    if (call.refused > 0) return "has no formula: " + call.refusal;
    const bool isEmpty = call.results.front().isTensor() && call.results.front().tensor().numel() == 0;
    return call.checked > 0 || isEmpty ? QString() : QStringLiteral("no element was checked");
}

}  // namespace sonde::test
