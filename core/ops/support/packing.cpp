#include "core/ops/support/packing.h"

#include <cstring>
#include <limits>

#include "core/base/number_text.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

constexpr std::int64_t kMaxBlock = 1024;

std::int64_t blocksOf(std::int64_t dimSize, std::int64_t block) {
    return dimSize / block + (dimSize % block == 0 ? 0 : 1);
}

}  // namespace

base::Result<Packing> Packing::parse(std::string_view text) {
    const auto wrong = [&] {
        return base::usageError("'" + std::string(text) + "' is not a packing", {},
                                "for example: NCHW -> N C/8 H W C%8");
    };
    const std::size_t arrow = text.find(" -> ");
    if (arrow == std::string_view::npos) return wrong();
    const std::string_view letters = text.substr(0, arrow);
    std::string_view rest = text.substr(arrow + 4);
    Packing packing;
    packing.m_rank = letters.size();
    while (!rest.empty()) {
        const std::size_t space = std::min(rest.find(' '), rest.size());
        const std::string_view token = rest.substr(0, space);
        rest.remove_prefix(std::min(space + 1, rest.size()));
        const std::size_t axis = token.empty() ? std::string_view::npos : letters.find(token[0]);
        if (axis == std::string_view::npos) return wrong();
        Axis made{axis, 1, ' '};
        if (token.size() > 1) {
            made.part = token[1];
            made.block = base::parseNumber<std::int64_t>(token.substr(2)).value_or(0);
            const bool known = made.part == '/' || made.part == '%' || made.part == '+';
            if (!known || made.block < 1 || made.block > kMaxBlock) return wrong();
        }
        packing.m_axes.push_back(made);
    }
    // An axis stands there once, or as blocks and places of one size.
    for (std::size_t axis = 0; axis < letters.size(); ++axis) {
        std::string parts;
        std::int64_t block = 0;
        for (const Axis& each : packing.m_axes) {
            if (each.plain != axis) continue;
            if (!parts.empty() && each.block != block) return wrong();
            block = each.block;
            parts += each.part;
        }
        if (!parts.empty() && parts != " " && parts != "+" && parts != "/%" && parts != "%/") return wrong();
    }
    return packing;
}

base::Result<Shape> Packing::packedShape(const Shape& plain) const {
    if (plain.rank() != m_rank)
        return opError("a tensor of " + std::to_string(m_rank) + " dimensions can be packed so, not one of shape " +
                       plain.text());
    Shape shape;
    std::vector<bool> named(m_rank, false);
    for (const Axis& axis : m_axes) {
        const std::int64_t dimSize = plain[axis.plain];
        named[axis.plain] = true;
        if (dimSize > std::numeric_limits<std::int64_t>::max() - axis.block)
            return opError("the dimension " + std::to_string(dimSize) + " is too large");
        switch (axis.part) {
            case '/': shape.push_back(blocksOf(dimSize, axis.block)); break;
            case '%': shape.push_back(axis.block); break;
            case '+': shape.push_back(blocksOf(dimSize, axis.block) * axis.block); break;
            default: shape.push_back(dimSize); break;
        }
    }
    for (std::size_t i = 0; i < m_rank; ++i) {
        if (!named[i] && plain[i] != 1)
            return opError("axis " + std::to_string(i) + " of " + plain.text() + " must have size 1");
    }
    return shape;
}

base::Result<Shape> Packing::plainShape(const Shape& packed, std::span<const std::int64_t> dimSizes) const {
    if (packed.rank() != m_axes.size())
        return opError("a packed tensor has " + std::to_string(m_axes.size()) + " dimensions, not shape " +
                       packed.text());
    if (!dimSizes.empty() && dimSizes.size() != m_rank)
        return opError("dimensions must have " + std::to_string(m_rank) + " entries");
    std::vector<std::int64_t> dims(m_rank, 1);
    for (std::size_t i = 0; i < m_axes.size(); ++i) {
        const Axis& axis = m_axes[i];
        if (axis.part == '%') {
            if (packed[i] != axis.block)
                return opError("dimension " + std::to_string(i) + " of " + packed.text() + " must be " +
                               std::to_string(axis.block));
            continue;
        }
        const std::int64_t factor = axis.part == '/' ? axis.block : 1;
        if (packed[i] > std::numeric_limits<std::int64_t>::max() / factor)
            return opError("the dimension " + std::to_string(packed[i]) + " is too large");
        dims[axis.plain] = packed[i] * factor;
    }
    for (std::size_t i = 0; i < dimSizes.size(); ++i) {
        if (dimSizes[i] < 0) continue;
        if (dimSizes[i] > dims[i])
            return opError("axis " + std::to_string(i) + " has " + std::to_string(dims[i]) + " elements, not " +
                           std::to_string(dimSizes[i]));
        dims[i] = dimSizes[i];
    }
    return Shape(std::move(dims));
}

template <typename Visit>
void Packing::forEachElement(const Shape& plain, const Shape& packed, Visit visit) const {
    std::vector<std::int64_t> strides(m_rank, 1);
    for (std::size_t i = m_rank; i-- > 1;) strides[i - 1] = strides[i] * plain[i];
    std::vector<std::int64_t> place(m_axes.size(), 0), index(m_rank, 0);
    const std::int64_t count = packed.numel();
    for (std::int64_t i = 0; i < count; ++i) {
        std::fill(index.begin(), index.end(), 0);
        for (std::size_t k = 0; k < m_axes.size(); ++k)
            index[m_axes[k].plain] += m_axes[k].part == '/' ? place[k] * m_axes[k].block : place[k];
        std::int64_t at = 0;
        for (std::size_t k = 0; k < m_rank && at >= 0; ++k) at = index[k] < plain[k] ? at + index[k] * strides[k] : -1;
        visit(i, at);
        for (std::size_t k = place.size(); k-- > 0;) {
            if (++place[k] < packed[k]) break;
            place[k] = 0;
        }
    }
}

base::Result<Tensor> Packing::pack(const Tensor& plain) const {
    SONDE_ASSIGN(const Shape shape, packedShape(plain.shape()));
    if (plain.dtype() == DType::String) return opError("tensors of strings cannot be packed");
    SONDE_ASSIGN(const Tensor source, plain.contiguous());
    SONDE_ASSIGN(Tensor packed, Tensor::zeros(plain.dtype(), shape));
    const std::size_t size = tensor::itemSize(plain.dtype());
    forEachElement(plain.shape(), shape, [&](std::int64_t to, std::int64_t from) {
        if (from >= 0)
            std::memcpy(packed.mutableBytes() + static_cast<std::size_t>(to) * size,
                        source.bytes() + static_cast<std::size_t>(from) * size, size);
    });
    return packed;
}

base::Result<Tensor> Packing::unpack(const Tensor& packed, std::span<const std::int64_t> dimSizes) const {
    SONDE_ASSIGN(const Shape shape, plainShape(packed.shape(), dimSizes));
    if (packed.dtype() == DType::String) return opError("tensors of strings cannot be packed");
    SONDE_ASSIGN(const Tensor source, packed.contiguous());
    SONDE_ASSIGN(Tensor plain, Tensor::allocate(packed.dtype(), shape));
    const std::size_t size = tensor::itemSize(packed.dtype());
    forEachElement(shape, packed.shape(), [&](std::int64_t from, std::int64_t to) {
        if (to >= 0)
            std::memcpy(plain.mutableBytes() + static_cast<std::size_t>(to) * size,
                        source.bytes() + static_cast<std::size_t>(from) * size, size);
    });
    return plain;
}

}  // namespace sonde::ops
