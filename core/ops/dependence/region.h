#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ops/dependence/dependence.h"

namespace sonde::ops::dependence {

/// The index in each dimension of a row-major index.
std::vector<std::int64_t> indexOf(std::int64_t element, const Shape& shape);
/// And back.
std::int64_t elementAt(const std::vector<std::int64_t>& index, const Shape& shape);
/// The element of a tensor of `shape` that is broadcast to an index of a result of the same rank or a higher one. -1 if
/// the shapes do not go together.
std::int64_t broadcastElement(const std::vector<std::int64_t>& at, const Shape& shape);

/// A box of indices: begin <= index < end in each dimension.
struct Region {
    std::vector<std::int64_t> begin, end;

    static Region all(const Shape& shape) { return {std::vector<std::int64_t>(shape.rank(), 0), shape.dims()}; }
    static Region only(const std::vector<std::int64_t>& at);
    void widen(std::size_t axis, const Shape& shape) { begin[axis] = 0, end[axis] = shape[axis]; }
    std::int64_t count() const;
};

/// An argument that only some of the operators have that share a rule; null where it is missing or left out.
const Value* argumentOf(const ElementCall& call, std::string_view name);

/// A call as one of an operator of ai.onnx that computes the same.
struct OnnxCall {
    std::string_view name;
    std::vector<Value> inputs;
    Attributes attributes = {};
    std::vector<std::size_t> places = {};  ///< where each of the inputs is in the call itself
};
/// What the rule of that operator says, with the places of the call.
base::Result<Dependence> asOnnx(const ElementCall& call, const OnnxCall& onnx);

/// An error if there are too many terms.
base::Result<void> checkTerms(std::int64_t count);

/// Calls visit(index, row-major index) for each index of a region, in order.
template <typename Visit>
void forEach(const Region& region, const Shape& shape, Visit visit) {
    if (region.count() <= 0) return;
    const std::vector<std::int64_t> strides = shape.contiguousStrides();
    std::vector<std::int64_t> at = region.begin;
    for (;;) {
        std::int64_t element = 0;
        for (std::size_t d = 0; d < at.size(); ++d) element += at[d] * strides[d];
        visit(at, element);
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == region.end[d - 1]) {
            at[d - 1] = region.begin[d - 1];
            --d;
        }
        if (d == 0) return;
    }
}

/// Adds each element of a region of an input as a term.
base::Result<void> addRegion(Dependence& dependence, std::uint32_t part, const ElementCall& call, std::size_t input,
                             const Region& region);
/// One element of an input, a tensor or a number.
void addElement(Dependence& dependence, std::uint32_t part, const ElementCall& call, std::size_t input,
                std::int64_t element);

/// Of a maximum or minimum of a part the term that is it weighs 1, the others nothing.
void weighChosen(Dependence& dependence, std::uint32_t part, bool isMax);

/// The element of the result itself, where nothing is computed: "x".
Dependence sourceElement(const ElementCall& call, std::size_t input, std::size_t member, std::int64_t element,
                         double value);
/// A number that the operator puts there itself.
Dependence constantElement(double value);

}  // namespace sonde::ops::dependence
