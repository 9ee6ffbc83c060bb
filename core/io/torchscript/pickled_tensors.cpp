#include "core/io/torchscript/pickled_tensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "core/tensor/bool_bytes.h"
#include "core/tensor/tensor.h"

namespace sonde::io::script {

using tensor::DType;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

std::optional<DType> storageType(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, DType>, 12> kTypes{
        {{"torch.FloatStorage", DType::Float32},
         {"torch.DoubleStorage", DType::Float64},
         {"torch.HalfStorage", DType::Float16},
         {"torch.BFloat16Storage", DType::BFloat16},
         {"torch.LongStorage", DType::Int64},
         {"torch.IntStorage", DType::Int32},
         {"torch.ShortStorage", DType::Int16},
         {"torch.CharStorage", DType::Int8},
         {"torch.ByteStorage", DType::UInt8},
         {"torch.BoolStorage", DType::Bool},
         {"torch.ComplexFloatStorage", DType::Complex64},
         {"torch.ComplexDoubleStorage", DType::Complex128}}};
    for (const auto& [known, dtype] : kTypes) {
        if (known == name) return dtype;
    }
    return std::nullopt;
}

bool isInts(const Value& value) {
    return (value.kind() == ValueKind::Tuple || value.kind() == ValueKind::List) &&
           std::ranges::all_of(value.items(), [](const Value& item) { return item.kind() == ValueKind::Int; });
}

std::vector<std::int64_t> intsOf(const Value& value) {
    std::vector<std::int64_t> result;
    for (const Value& item : value.items()) result.push_back(item.toInt());
    return result;
}

base::Error badTensor(std::string_view place) {
    return base::unreadable("a tensor of the archive is damaged", std::string(place));
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks): every element must be in the storage.
base::Result<Value> rebuiltTensor(const Value& arguments, std::string_view place) {
    const tensor::ValueList& items = arguments.items();
    if (items.size() < 4 || items[0].kind() != ValueKind::Object || items[1].kind() != ValueKind::Int ||
        !isInts(items[2]) || !isInts(items[3])) {
        return badTensor(place);
    }
    const auto* storage = dynamic_cast<const StorageValue*>(items[0].object().get());
    tensor::Shape shape(intsOf(items[2]));
    std::vector<std::int64_t> strides = intsOf(items[3]);
    if (!storage || strides.size() != shape.rank() || shape.rank() > 64) return badTensor(place);
    const std::optional<std::int64_t> count = shape.checkedNumel();
    const auto capacity =
        static_cast<std::int64_t>(storage->storage()->sizeBytes() / tensor::itemSize(storage->dtype()));
    std::int64_t last = items[1].toInt();
    if (!count || last < 0 || last > capacity) return badTensor(place);
    for (std::size_t i = 0; i < shape.rank() && *count > 0; ++i) {
        if (strides[i] < 0 || (shape[i] > 1 && strides[i] > capacity / (shape[i] - 1))) return badTensor(place);
        last += strides[i] * (shape[i] - 1);
        if (last >= capacity) return badTensor(place);
    }
    if (*count > 0 && last >= capacity) return badTensor(place);
    return Value(Tensor::onStorage(storage->dtype(), std::move(shape), std::move(strides), storage->storage(),
                                   items[1].toInt()));
}

constexpr std::array<unsigned char, kLegacyMagicBytes> kLegacyMagic{0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                                                    0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

}  // namespace

base::Result<StorageId> storageId(const Value& id, std::string_view place) {
    const auto wrong = [&] { return base::unreadable("a storage of the archive is damaged", std::string(place)); };
    if (id.kind() != ValueKind::Tuple || id.items().size() < 5) return wrong();
    const tensor::ValueList& items = id.items();
    if (items[1].kind() != ValueKind::Object || items[2].kind() != ValueKind::String ||
        items[4].kind() != ValueKind::Int)
        return wrong();
    const std::optional<DType> dtype = storageType(items[1].object()->typeName());
    if (!dtype)
        return base::unreadable("tensors of type " + items[1].object()->typeName() + " are not supported",
                                std::string(place));
    return StorageId{items[2].toString(), *dtype, items[4].toInt()};
}

base::Result<std::shared_ptr<StorageValue>> storageOn(const SharedBytes& bytes, DType dtype) {
    // A bool of the file may be any byte; in memory it is 0 or 1.
    const bool clean = dtype != DType::Bool || tensor::areBools(bytes.bytes);
    // Records of torch.save's zip form are aligned to 64 bytes.
    if (clean && reinterpret_cast<std::uintptr_t>(bytes.bytes.data()) % tensor::itemSize(dtype) == 0) {
        return std::make_shared<StorageValue>(
            dtype, tensor::Storage::view(bytes.bytes.data(), bytes.bytes.size(), bytes.owner));
    }
    SONDE_ASSIGN(auto copy, tensor::Storage::allocate(bytes.bytes.size()));
    std::memcpy(copy->mutableData(), bytes.bytes.data(), bytes.bytes.size());
    if (!clean) {
        for (std::byte& b : std::span(copy->mutableData(), bytes.bytes.size()))
            b = b == std::byte{0} ? b : std::byte{1};
    }
    return std::make_shared<StorageValue>(dtype, std::move(copy));
}

base::Result<std::optional<Value>> calledInTorchPickle(const std::string& name, const Value& arguments,
                                                       std::string_view place) {
    if (name == "torch._utils._rebuild_tensor_v2") {
        SONDE_ASSIGN(Value tensor, rebuiltTensor(arguments, place));
        return std::optional(std::move(tensor));
    }
    if (name == "torch._utils._rebuild_parameter" && !arguments.items().empty())
        return std::optional(arguments.items().front());
    if (name == "collections.OrderedDict" && arguments.items().empty()) return std::optional(Value::dict({}));
    if ((name.starts_with("torch.jit._pickle.build_") || name == "torch.jit._pickle.restore_type_tag") &&
        !arguments.items().empty()) {
        return std::optional(arguments.items().front());
    }
    return std::optional<Value>();
}

base::Result<Value> readZippedPickle(const ZipArchive& zip, const std::string& prefix, const std::string& record,
                                     const std::string& tensors, const std::string& place) {
    const ZipEntry* entry = zip.find(prefix + record);
    if (!entry) return base::unreadable("the archive lacks its record " + record, place);
    SONDE_ASSIGN(const SharedBytes bytes, zip.read(*entry));
    std::map<std::string, std::shared_ptr<StorageValue>> storages;
    PickleHooks hooks;
    hooks.call = [&place](const std::string& name, const Value& arguments) {
        return calledInTorchPickle(name, arguments, place);
    };
    hooks.persistent = [&](const Value& value) -> base::Result<Value> {
        SONDE_ASSIGN(const StorageId id, storageId(value, place));
        if (const auto known = storages.find(id.key); known != storages.end()) return Value::object(known->second);
        const ZipEntry* data = zip.find(prefix + tensors + id.key);
        if (!data) return base::unreadable("the archive lacks its record " + tensors + id.key, place);
        SONDE_ASSIGN(const SharedBytes raw, zip.read(*data, false));
        SONDE_ASSIGN(storages[id.key], storageOn(raw, id.dtype));
        return Value::object(storages[id.key]);
    };
    return readPickle(bytes.bytes, hooks, place + ":" + record);
}

bool isLegacyTorchFile(std::span<const std::byte> head) {
    return head.size() >= kLegacyMagic.size() &&
           std::memcmp(head.data(), kLegacyMagic.data(), kLegacyMagic.size()) == 0;
}

}  // namespace sonde::io::script
