#include "ui/context/input_spec.h"

#include "core/io/inputs/inputs.h"

namespace sonde::context {

QString randomSource(const tensor::TypeInfo& type, double low, double high) {
    QString text = QStringLiteral("#rand(%1,%2").arg(low).arg(high);
    if (type.shape)
        for (const std::int64_t extent : io::usualShape(type)) text += QStringLiteral(",%1").arg(extent);
    return text + QLatin1Char(')');
}

InputSpec defaultSpec(const tensor::TypeInfo& type) {
    // Integers are mostly indices: zero is always one.
    const bool real = tensor::isFloating(type.dtype) || type.dtype == tensor::DType::Undefined;
    return {randomSource(type, 0, real ? 1 : 0), {}};
}

}  // namespace sonde::context
