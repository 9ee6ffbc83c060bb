#include "core/io/torchscript/archive.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace sonde::io::script {

using tensor::DType;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// A typed record of numbers that tensors lie in.
class StorageValue final : public tensor::ObjectBase {
  public:
    StorageValue(DType dtype, std::shared_ptr<tensor::Storage> storage) : m_dtype(dtype), m_storage(std::move(storage)) {}
    std::string typeName() const override { return "storage"; }
    DType dtype() const { return m_dtype; }
    const std::shared_ptr<tensor::Storage>& storage() const { return m_storage; }

  private:
    DType m_dtype;
    std::shared_ptr<tensor::Storage> m_storage;
};

std::optional<DType> storageType(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, DType>, 12> kTypes{{
        {"torch.FloatStorage", DType::Float32}, {"torch.DoubleStorage", DType::Float64}, {"torch.HalfStorage", DType::Float16},
        {"torch.BFloat16Storage", DType::BFloat16}, {"torch.LongStorage", DType::Int64}, {"torch.IntStorage", DType::Int32},
        {"torch.ShortStorage", DType::Int16}, {"torch.CharStorage", DType::Int8}, {"torch.ByteStorage", DType::UInt8},
        {"torch.BoolStorage", DType::Bool}, {"torch.ComplexFloatStorage", DType::Complex64},
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

base::Error badTensor(std::string_view place) { return base::unreadable("a tensor of the archive is damaged", std::string(place)); }

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks): every element must lie in the storage.
base::Result<Value> rebuiltTensor(const Value& arguments, std::string_view place) {
    const tensor::ValueList& items = arguments.items();
    if (items.size() < 4 || items[0].kind() != ValueKind::Object || items[1].kind() != ValueKind::Int || !isInts(items[2]) || !isInts(items[3])) {
        return badTensor(place);
    }
    const auto* storage = dynamic_cast<const StorageValue*>(items[0].object().get());
    tensor::Shape shape(intsOf(items[2]));
    std::vector<std::int64_t> strides = intsOf(items[3]);
    if (!storage || strides.size() != shape.rank() || shape.rank() > 64) return badTensor(place);
    const std::optional<std::int64_t> count = shape.checkedNumel();
    const auto capacity = static_cast<std::int64_t>(storage->storage()->sizeBytes() / tensor::itemSize(storage->dtype()));
    std::int64_t last = items[1].toInt();
    if (!count || last < 0) return badTensor(place);
    for (std::size_t i = 0; i < shape.rank() && *count > 0; ++i) {
        if (strides[i] < 0 || (shape[i] > 1 && strides[i] > capacity / (shape[i] - 1))) return badTensor(place);
        last += strides[i] * (shape[i] - 1);
        if (last >= capacity) return badTensor(place);
    }
    if (*count > 0 && last >= capacity) return badTensor(place);
    return Value(Tensor::onStorage(storage->dtype(), std::move(shape), std::move(strides), storage->storage(), items[1].toInt()));
}

/// Functions that the archives call; everything else stays an opaque instance.
base::Result<std::optional<Value>> called(const std::string& name, const Value& arguments, std::string_view place) {
    if (name == "torch._utils._rebuild_tensor_v2") {
        SONDE_ASSIGN(Value tensor, rebuiltTensor(arguments, place));
        return std::optional(std::move(tensor));
    }
    if (name == "torch._utils._rebuild_parameter" && !arguments.items().empty()) return std::optional(arguments.items().front());
    if (name == "collections.OrderedDict" && arguments.items().empty()) return std::optional(Value::dict({}));
    if ((name.starts_with("torch.jit._pickle.build_") || name == "torch.jit._pickle.restore_type_tag") && !arguments.items().empty()) {
        return std::optional(arguments.items().front());
    }
    return std::optional<Value>();
}

constexpr std::array<unsigned char, 15> kLegacyMagic{0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

bool isLegacy(std::span<const std::byte> head) {
    return head.size() >= kLegacyMagic.size() && std::memcmp(head.data(), kLegacyMagic.data(), kLegacyMagic.size()) == 0;
}

constexpr const char* kExportHint =
    "build the model in Python, load the weights with load_state_dict, and export it: "
    "`traced = torch.jit.trace(model.eval(), example_input)` and `torch.jit.save(traced, \"model.pt\")`";

}  // namespace

base::Result<std::shared_ptr<Archive>> Archive::open(const std::filesystem::path& path) {
    SONDE_ASSIGN(auto file, base::MappedFile::open(path));
    if (isLegacy(file->bytes().first(std::min<std::size_t>(file->sizeBytes(), 64)))) {
        return base::unreadable("this is a file of torch.save from before version 1.6 (not a zip archive): it holds values, no program",
                                path.string(), kExportHint);
    }
    std::shared_ptr<Archive> archive(new Archive);
    archive->m_place = path.string();
    SONDE_ASSIGN(archive->m_zip, ZipArchive::open(std::move(file)));
    SONDE_TRY(archive->readRecords());
    return archive;
}

base::Error Archive::notTorchScript() const {
    const ZipEntry* data = m_zip->find(m_prefix + "data.pkl");
    bool isModel = false;
    if (data) {
        // A pickled model names the classes of its modules; a state dict only containers and tensors.
        if (auto bytes = m_zip->read(*data)) {
            const std::string_view text(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size());
            isModel = text.find("_modules") != std::string_view::npos;
        }
    }
    if (isModel) {
        return base::unreadable("this is a pickled model (torch.save of a module): its classes are Python code that is not in the file",
                                m_place, "in Python, where the classes are: `traced = torch.jit.trace(model.eval(), example_input)` and "
                                         "`torch.jit.save(traced, \"model.pt\")`");
    }
    return base::unreadable("this is a state dict (torch.save of tensors): it holds weights, no program", m_place, kExportHint);
}

base::Result<void> Archive::readRecords() {
    for (const ZipEntry& entry : m_zip->entries()) {
        if (entry.name.ends_with("/data.pkl")) m_prefix = entry.name.substr(0, entry.name.size() - 8);
    }
    if (m_prefix.empty()) return base::unreadable("this zip archive is no PyTorch file: it has no data.pkl", m_place);
    const bool hasCode = std::ranges::any_of(m_zip->entries(), [this](const ZipEntry& e) { return e.name.starts_with(m_prefix + "code/"); });
    if (!hasCode) return notTorchScript();

    for (const char* record : {"version", ".data/version"}) {
        const ZipEntry* entry = m_zip->find(m_prefix + record);
        if (!entry) continue;
        SONDE_ASSIGN(const SharedBytes bytes, m_zip->read(*entry));
        const char* text = reinterpret_cast<const char*>(bytes.bytes.data());
        std::from_chars(text, text + bytes.bytes.size(), m_version);
    }
    if (m_version < 1 || m_version > 10) {
        return base::unreadable("the archive has format version " + std::to_string(m_version) + "; versions 1 to 10 are known", m_place);
    }
    if (m_zip->find(m_prefix + "constants.pkl")) {
        SONDE_ASSIGN(const Value constants, readRecord("constants.pkl", "constants/"));
        if (constants.isListLike()) m_constants = constants.items();
    }
    SONDE_ASSIGN(m_root, readRecord("data.pkl", "data/"));
    const bool isObject = m_root.kind() == ValueKind::Object && dynamic_cast<const PickledObject*>(m_root.object().get());
    return isObject ? base::Result<void>() : base::unreadable("the archive's data is no module", m_place);
}

base::Result<Value> Archive::readRecord(const std::string& record, const std::string& tensors) {
    const ZipEntry* entry = m_zip->find(m_prefix + record);
    SONDE_ASSIGN(const SharedBytes bytes, m_zip->read(*entry));
    std::map<std::string, std::shared_ptr<StorageValue>> storages;
    PickleHooks hooks;
    hooks.call = [this](const std::string& name, const Value& arguments) { return called(name, arguments, m_place); };
    hooks.persistent = [&](const Value& id) -> base::Result<Value> {
        const auto wrong = [&] { return base::unreadable("a storage of the archive is damaged", m_place); };
        if (id.kind() != ValueKind::Tuple || id.items().size() < 5) return wrong();
        const tensor::ValueList& items = id.items();
        if (items[1].kind() != ValueKind::Object || items[2].kind() != ValueKind::String || items[4].kind() != ValueKind::Int) return wrong();
        const std::string& key = items[2].toString();
        if (const auto known = storages.find(key); known != storages.end()) return Value::object(known->second);
        const std::optional<DType> dtype = storageType(items[1].object()->typeName());
        const ZipEntry* data = m_zip->find(m_prefix + tensors + key);
        if (!dtype) return base::unreadable("tensors of type " + items[1].object()->typeName() + " are not supported", m_place);
        if (!data) return base::unreadable("the archive lacks its record " + tensors + key, m_place);
        SONDE_ASSIGN(SharedBytes raw, m_zip->read(*data, false));
        // Elements must be aligned; archives of torch.jit.save are, to 64 bytes.
        if (reinterpret_cast<std::uintptr_t>(raw.bytes.data()) % tensor::itemSize(*dtype) != 0) {
            SONDE_ASSIGN(auto copy, tensor::Storage::allocate(raw.bytes.size()));
            std::memcpy(copy->mutableData(), raw.bytes.data(), raw.bytes.size());
            storages[key] = std::make_shared<StorageValue>(*dtype, std::move(copy));
        } else {
            storages[key] = std::make_shared<StorageValue>(*dtype, tensor::Storage::view(raw.bytes.data(), raw.bytes.size(), raw.owner));
        }
        return Value::object(storages[key]);
    };
    return readPickle(bytes.bytes, hooks, m_place + ":" + record);
}

base::Result<const SourceUnit*> Archive::unit(const std::string& module) {
    if (const auto known = m_units.find(module); known != m_units.end()) return known->second.get();
    std::string file = module;
    std::ranges::replace(file, '.', '/');
    const ZipEntry* entry = m_zip->find(m_prefix + "code/" + file + ".py");
    std::unique_ptr<SourceUnit>& place = m_units[module];
    if (!entry) return static_cast<const SourceUnit*>(nullptr);
    SONDE_ASSIGN(const SharedBytes bytes, m_zip->read(*entry));
    const std::string_view text(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size());
    SONDE_ASSIGN(SourceUnit parsed, parseSource(text, m_place + ":code/" + file + ".py"));
    place = std::make_unique<SourceUnit>(std::move(parsed));
    return static_cast<const SourceUnit*>(place.get());
}

namespace {

template <typename Def>
const Def* named(const std::vector<Def>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Def::name);
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

base::Result<const ClassDef*> Archive::findClass(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return static_cast<const ClassDef*>(nullptr);
    SONDE_ASSIGN(const SourceUnit* found, unit(name.substr(0, dot)));
    return found ? named(found->classes, std::string_view(name).substr(dot + 1)) : nullptr;
}

base::Result<const FunctionDef*> Archive::findFunction(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return static_cast<const FunctionDef*>(nullptr);
    SONDE_ASSIGN(const SourceUnit* found, unit(name.substr(0, dot)));
    return found ? named(found->functions, std::string_view(name).substr(dot + 1)) : nullptr;
}

bool looksLikeTorchFile(std::span<const std::byte> head, const std::filesystem::path& path) {
    if (isLegacy(head)) return true;
    if (head.size() < 4 || std::memcmp(head.data(), "PK\x03\x04", 4) != 0) return false;
    const auto zip = ZipArchive::open(path);
    return zip && std::ranges::any_of((*zip)->entries(), [](const ZipEntry& e) { return e.name.ends_with("/data.pkl"); });
}

}  // namespace sonde::io::script
