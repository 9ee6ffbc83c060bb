#include "core/io/onnx/value_file.h"

#include "core/io/onnx/tensor_proto.h"
#include "core/io/onnx/wire.h"

namespace sonde::io {

namespace {

using onnx::Bytes;
using tensor::Value;
using tensor::ValueKind;

// Field numbers of SequenceProto and OptionalProto.
constexpr std::uint32_t kTensor = 3, kSequence = 5, kOptional = 7;
constexpr int kDepthLimit = 16;

class ValueReader {
  public:
    ValueReader(onnx::Wire& wire, onnx::TensorReader& tensors) : m_wire(wire), m_tensors(tensors) {}

    base::Result<Value> read(Bytes message, ValueKind kind, int depth = 0) {
        if (depth > kDepthLimit) return base::unreadable("values are nested too deeply");
        if (kind != ValueKind::Sequence && kind != ValueKind::Optional) {
            SONDE_ASSIGN(tensor::Tensor tensor, m_tensors.read(message));
            return Value(std::move(tensor));
        }
        tensor::ValueList items;
        onnx::MessageReader reader(m_wire, message);
        while (reader.next()) {
            const std::uint32_t tag = reader.tag();
            if (tag != kTensor && tag != kSequence && tag != kOptional) {
                reader.skip();
                continue;
            }
            const ValueKind inner = tag == kTensor     ? ValueKind::Tensor
                                    : tag == kSequence ? ValueKind::Sequence
                                                       : ValueKind::Optional;
            SONDE_ASSIGN(Value item, read(reader.bytes(), inner, depth + 1));
            items.push_back(std::move(item));
        }
        return kind == ValueKind::Sequence ? Value::sequence(std::move(items)) : Value::optional(std::move(items));
    }

  private:
    onnx::Wire& m_wire;
    onnx::TensorReader& m_tensors;
};

}  // namespace

base::Result<Value> readOnnxValue(std::shared_ptr<const base::MappedFile> file, const tensor::TypeInfo& type) {
    const Bytes bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    onnx::Wire wire(bytes);
    onnx::TensorReader tensors(wire, file);
    base::Result<Value> value = ValueReader(wire, tensors).read(bytes, type.kind.value_or(ValueKind::Tensor));
    if (wire.failed()) return base::unreadable("the file is damaged: " + wire.problem(), file->path().string());
    if (!value) return std::move(value.error().at(file->path().string()));
    return value;
}

}  // namespace sonde::io
