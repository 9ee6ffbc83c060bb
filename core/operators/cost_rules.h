#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/operators/call.h"
#include "core/operators/tables.h"
#include "core/tensor/symbolic.h"

namespace sonde::operators {

using tensor::Symbolic;

inline Symbolic number(std::int64_t value) { return Symbolic::of(value); }

/// FLOPs and, of those, multiply-adds.
struct Work {
    Symbolic flops, multiplyAdds;

    static Work none() { return {number(0), number(0)}; }
    /// Without products.
    static Work of(Symbolic flops) { return {std::move(flops), number(0)}; }
    static Work products(const Symbolic& multiplyAdds) { return {number(2) * multiplyAdds, multiplyAdds}; }
    Work operator+(const Work& other) const { return {flops + other.flops, multiplyAdds + other.multiplyAdds}; }
};

/// What formulas ask of a call.
class CallReader {
  public:
    CallReader(const Call& call, const Traits& traits) : m_call(call), m_traits(traits) {}

    const Traits& traits() const { return m_traits; }
    bool isAten() const { return m_call.domain == "aten"; }
    std::string_view domain() const { return m_call.domain; }
    std::string_view name() const { return m_call.name; }

    const tensor::TypeInfo& input(std::size_t index) const;
    const tensor::TypeInfo& output(std::size_t index = 0) const;
    bool hasTensor(std::size_t index) const { return input(index).isTensor(); }
    std::size_t tensorCount() const;

    /// Elements of the tensor; unknown if its shape is.
    Symbolic elements(const tensor::TypeInfo& type) const;
    Symbolic in(std::size_t index = 0) const { return elements(input(index)); }
    Symbolic out() const { return elements(output()); }
    /// A dim size, counted from the end if negative; unknown outside the shape.
    Symbolic dim(const tensor::TypeInfo& type, std::int64_t axis) const;
    std::size_t rank(std::size_t index) const { return input(index).shape ? input(index).shape->size() : 0; }

    std::int64_t attribute(std::string_view name, std::int64_t otherwise) const;
    std::vector<std::int64_t> attributeInts(std::string_view name) const;
    std::string attributeText(std::string_view name, std::string_view otherwise) const;
    /// The value of an input, None if it is not known.
    const tensor::Value& constant(std::size_t index) const;
    std::optional<std::int64_t> integer(std::size_t index) const;

    /// The input with the weights of a layer, and the one with its bias if there is one.
    std::size_t weight() const;
    bool hasBias() const;

  private:
    const Call& m_call;
    const Traits& m_traits;
};

/// All dimensions but the last one.
Symbolic rowsOf(const CallReader& call, const tensor::TypeInfo& type);
/// Scores of queries and keys, their softmax, and the sums of values: of `pairs` positions for all heads together.
Work attended(const Symbolic& scoreProducts, const Symbolic& valueProducts, const Symbolic& pairs, bool isMasked);

// Families of formulas.
Work convolution(const CallReader& call);
Work transposedConvolution(const CallReader& call);
Work matrixProduct(const CallReader& call);
Work einsumProduct(const CallReader& call);
Work bilinearProduct(const CallReader& call);
Work distances(const CallReader& call);
Work attention(const CallReader& call);
/// The same with the past keys at another place.
Work attention(const CallReader& call, std::size_t pastAt);
Work selfAttention(const CallReader& call);
Work encoderLayer(const CallReader& call);
Work recurrent(const CallReader& call);
Work pooling(const CallReader& call);
Work resampling(const CallReader& call, CostRule rule);
Work fused(const CallReader& call);

}  // namespace sonde::operators
