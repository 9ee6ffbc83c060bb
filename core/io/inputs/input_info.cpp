#include "core/io/inputs/input_info.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sonde::io {

using tensor::Shape;
using tensor::TypeInfo;

namespace {

constexpr std::int64_t kUsualImageSize = 224;  ///< what networks for ImageNet take

}  // namespace

Shape usualShape(const TypeInfo& type, const tensor::DimSizeHints& usual) {
    std::vector<std::int64_t> dims(type.shape ? type.shape->size() : usual.size(), -1);
    const bool hasHints = usual.size() == dims.size();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (type.shape && (*type.shape)[axis].known()) dims[axis] = (*type.shape)[axis].value;
        else if (hasHints) dims[axis] = usual[axis].likely;
    }
    // Three channels may also be read one by one.
    const bool readsThree = dims.size() == 4 && dims[1] < 0 && hasHints && usual[1].least == 3;
    const bool picture = dims.size() == 4 && (dims[1] == 1 || dims[1] == 3 || readsThree);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] >= 0) continue;
        dims[axis] = std::max(picture && axis >= 2 ? kUsualImageSize : 1, hasHints ? usual[axis].least : 1);
    }
    return Shape(std::move(dims));
}

}  // namespace sonde::io
