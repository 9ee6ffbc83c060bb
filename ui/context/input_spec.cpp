#include "ui/context/input_spec.h"

namespace sonde::context {

const std::vector<Normalization>& normalizations() {
    // ImageNet's mean and deviation are those that torchvision's classification models document.
    static const std::vector<Normalization> table{
        {"unit", "0 to 1, RGB", 1.0 / 255.0, {0, 0, 0}, {1, 1, 1}, false},
        {"imagenet", "ImageNet mean and deviation, RGB", 1.0 / 255.0, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, false},
        {"signed", "-1 to 1, RGB", 1.0 / 255.0, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, false},
        {"signed-bgr", "-1 to 1, BGR", 1.0 / 255.0, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, true},
        {"bytes", "0 to 255, RGB", 1.0, {0, 0, 0}, {1, 1, 1}, false},
        {"bytes-bgr", "0 to 255, BGR", 1.0, {0, 0, 0}, {1, 1, 1}, true},
    };
    return table;
}

QString randomSource(const tensor::TypeInfo& type, double low, double high) {
    QString text = QStringLiteral("#rand(%1,%2").arg(low).arg(high);
    if (type.shape) {
        const std::size_t rank = type.shape->size();
        for (std::size_t axis = 0; axis < rank; ++axis) {
            const tensor::Dim& dim = (*type.shape)[axis];
            const bool picture = rank == 4 && axis >= 2;
            text += QStringLiteral(",%1").arg(dim.known() ? dim.value : picture ? 224 : 1);
        }
    }
    return text + QLatin1Char(')');
}

InputSpec defaultSpec(const tensor::TypeInfo& type) {
    // Integers are mostly indices: zero is always one.
    const bool real = tensor::isFloating(type.dtype) || type.dtype == tensor::DType::Undefined;
    return {randomSource(type, 0, real ? 1 : 0), {}};
}

}  // namespace sonde::context
