#include "core/io/torchscript/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace sonde::io {

using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

// Opcodes of Lib/pickletools.py.
enum Op : unsigned char {
    Mark = '(', Stop = '.', None = 'N', Global = 'c', Reduce = 'R', Build = 'b', BinInt = 'J', BinInt1 = 'K', BinInt2 = 'M',
    BinFloat = 'G', BinUnicode = 'X', EmptyTuple = ')', TupleMark = 't', EmptyList = ']', EmptyDict = '}', Append = 'a',
    Appends = 'e', SetItem = 's', SetItems = 'u', BinGet = 'h', LongBinGet = 'j', BinPut = 'q', LongBinPut = 'r',
    BinPersId = 'Q', Pop = '0', BinString = 'T', ShortBinString = 'U',
    Proto = 0x80, NewObj = 0x81, Tuple1 = 0x85, Tuple2 = 0x86, Tuple3 = 0x87, NewTrue = 0x88, NewFalse = 0x89, Long1 = 0x8a,
    ShortBinUnicode = 0x8c, Memoize = 0x94, Frame = 0x95, StackGlobal = 0x93, BinBytes = 'B', ShortBinBytes = 'C'
};

constexpr int kMaxDepth = 400;

class Machine {
  public:
    Machine(std::span<const std::byte> bytes, const PickleHooks& hooks, std::string_view place)
        : m_bytes(bytes), m_hooks(hooks), m_place(place) {}

    base::Result<Value> run() {
        while (true) {
            m_opStart = m_position;
            SONDE_ASSIGN(const auto op, number<std::uint8_t>());
            if (op == Stop) return pop();
            SONDE_TRY(step(op));
        }
    }

    std::size_t position() const { return m_position; }  ///< behind what was read

  private:
    base::Error wrong(const std::string& what) const {
        return base::unreadable("the pickle is damaged: " + what, std::string(m_place) + ", byte " + std::to_string(m_opStart));
    }

    template <typename T>
    base::Result<T> number() {
        if (m_bytes.size() - m_position < sizeof(T)) return wrong("it ends too early");
        T value{};
        std::memcpy(&value, m_bytes.data() + m_position, sizeof(T));
        m_position += sizeof(T);
        return value;
    }

    base::Result<std::string> text(std::size_t length) {
        if (m_bytes.size() - m_position < length) return wrong("it ends too early");
        std::string result(reinterpret_cast<const char*>(m_bytes.data() + m_position), length);
        m_position += length;
        return result;
    }

    base::Result<std::string> line() {
        const char* start = reinterpret_cast<const char*>(m_bytes.data() + m_position);
        const void* end = std::memchr(start, '\n', m_bytes.size() - m_position);
        if (!end) return wrong("it ends too early");
        const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - start);
        m_position += length + 1;
        return std::string(start, length);
    }

    base::Result<Value> pop() {
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() <= floor) return wrong("its stack is empty");
        Value value = std::move(m_stack.back());
        m_stack.pop_back();
        m_open.erase(identity(value));
        return value;
    }

    /// What tells one container or instance from another; null for plain values.
    static const void* identity(const Value& value) {
        switch (value.kind()) {
            case ValueKind::List:
            case ValueKind::Tuple: return &value.items();
            case ValueKind::Dict: return &value.dictItems();
            case ValueKind::Object: return value.object().get();
            default: return nullptr;
        }
    }

    /// Notes that `item` goes into `container`. Depth is bounded because whoever reads or frees the value recurses.
    base::Result<void> contain(const Value& container, const Value& item) {
        const auto inner = m_depth.find(identity(item));
        if (inner == m_depth.end()) return {};
        int& depth = m_depth[identity(container)];
        depth = std::max(depth, inner->second + 1);
        return depth <= kMaxDepth ? base::Result<void>() : wrong("it nests too deeply");
    }

    base::Result<void> pushNew(Value value, std::span<const Value> contents = {}) {
        m_depth[identity(value)] = 1;
        m_kept.push_back(value);  // so that no other container gets the same address
        for (const Value& item : contents) SONDE_TRY(contain(value, item));
        m_open.insert(identity(value));
        return push(std::move(value));
    }

    base::Result<ValueList> popMark() {
        if (m_marks.empty()) return wrong("there is no mark");
        const std::size_t start = m_marks.back();
        m_marks.pop_back();
        ValueList items(std::make_move_iterator(m_stack.begin() + static_cast<std::ptrdiff_t>(start)),
                        std::make_move_iterator(m_stack.end()));
        m_stack.resize(start);
        for (const Value& item : items) m_open.erase(identity(item));
        return items;
    }

    base::Result<void> push(Value value) {
        m_stack.push_back(std::move(value));
        return {};
    }

    base::Result<void> tuple(std::size_t n) {
        ValueList items(n);
        for (std::size_t i = n; i-- > 0;) {
            SONDE_ASSIGN(items[i], pop());
        }
        return pushTuple(std::move(items));
    }

    base::Result<void> pushTuple(ValueList items) {
        const Value value = Value::tuple(std::move(items));
        return pushNew(value, value.items());
    }

    base::Result<void> pushText(std::size_t length) {
        SONDE_ASSIGN(std::string value, text(length));
        return push(Value(std::move(value)));
    }

    base::Result<void> get(std::size_t key) {
        const auto found = m_memo.find(key);
        if (found == m_memo.end()) return wrong("nothing is remembered under " + std::to_string(key));
        if (m_open.contains(identity(found->second))) return wrong("a value contains itself");
        return push(found->second);
    }

    base::Result<void> put(std::size_t key) {
        if (m_stack.empty()) return wrong("its stack is empty");
        m_memo[key] = m_stack.back();
        return {};
    }

    base::Result<void> step(unsigned char op) {
        switch (op) {
            case Proto: { SONDE_ASSIGN(const auto version, number<std::uint8_t>());
                return version <= 5 ? base::Result<void>() : wrong("unknown protocol " + std::to_string(version)); }
            case Frame: SONDE_TRY(number<std::uint64_t>()); return {};
            case Mark: m_marks.push_back(m_stack.size()); return {};
            case None: return push({});
            case NewTrue: return push(Value::ofBool(true));
            case NewFalse: return push(Value::ofBool(false));
            case BinInt: { SONDE_ASSIGN(const auto v, number<std::int32_t>()); return push(Value::ofInt(v)); }
            case BinInt1: { SONDE_ASSIGN(const auto v, number<std::uint8_t>()); return push(Value::ofInt(v)); }
            case BinInt2: { SONDE_ASSIGN(const auto v, number<std::uint16_t>()); return push(Value::ofInt(v)); }
            case Long1: return longInteger();
            case BinFloat: { SONDE_ASSIGN(const auto v, number<std::uint64_t>());
                return push(Value::ofFloat(std::bit_cast<double>(__builtin_bswap64(v)))); }
            case BinUnicode: case BinString: case BinBytes: { SONDE_ASSIGN(const auto n, number<std::uint32_t>()); return pushText(n); }
            case ShortBinUnicode: case ShortBinString: case ShortBinBytes: { SONDE_ASSIGN(const auto n, number<std::uint8_t>()); return pushText(n); }
            case EmptyTuple: return pushTuple({});
            case Tuple1: return tuple(1);
            case Tuple2: return tuple(2);
            case Tuple3: return tuple(3);
            case TupleMark: { SONDE_ASSIGN(ValueList items, popMark()); return pushTuple(std::move(items)); }
            case EmptyList: return pushNew(Value::list({}));
            case EmptyDict: return pushNew(Value::dict({}));
            case Append: { SONDE_ASSIGN(Value item, pop()); return append({std::move(item)}); }
            case Appends: { SONDE_ASSIGN(ValueList items, popMark()); return append(std::move(items)); }
            case SetItem: return setItem();
            case SetItems: { SONDE_ASSIGN(ValueList items, popMark()); return setItems(std::move(items)); }
            case BinGet: { SONDE_ASSIGN(const auto key, number<std::uint8_t>()); return get(key); }
            case LongBinGet: { SONDE_ASSIGN(const auto key, number<std::uint32_t>()); return get(key); }
            case BinPut: { SONDE_ASSIGN(const auto key, number<std::uint8_t>()); return put(key); }
            case LongBinPut: { SONDE_ASSIGN(const auto key, number<std::uint32_t>()); return put(key); }
            case Memoize: return put(m_memo.size());
            case Pop: SONDE_TRY(pop()); return {};
            case Global: return globalLine();
            case StackGlobal: return stackGlobal();
            case Reduce: return reduce();
            case NewObj: return newObject();
            case Build: return build();
            case BinPersId: return persistent();
            default: return wrong("opcode " + std::to_string(op) + " is not known here");
        }
    }

    /// Little-endian two's complement of up to eight bytes.
    base::Result<void> longInteger() {
        SONDE_ASSIGN(const auto length, number<std::uint8_t>());
        if (length > 8) return wrong("an integer of more than 64 bits");
        SONDE_ASSIGN(const std::string bytes, text(length));
        std::uint64_t bits = length > 0 && (static_cast<unsigned char>(bytes.back()) & 0x80U) ? ~std::uint64_t{0} : 0;
        for (std::size_t i = length; i-- > 0;) bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
        return push(Value::ofInt(static_cast<std::int64_t>(bits)));
    }

    base::Result<void> append(ValueList items) {
        if (m_stack.empty() || m_stack.back().kind() != ValueKind::List) return wrong("it appends to what is no list");
        if (!m_open.contains(identity(m_stack.back()))) return wrong("it changes a list that is already in use");
        for (const Value& item : items) SONDE_TRY(contain(m_stack.back(), item));
        ValueList& list = m_stack.back().items();
        list.insert(list.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
        return {};
    }

    base::Result<void> setItems(ValueList items) {
        if (m_stack.empty() || m_stack.back().kind() != ValueKind::Dict) return wrong("it sets items of what is no dict");
        if (items.size() % 2 != 0) return wrong("a key without a value");
        if (!m_open.contains(identity(m_stack.back()))) return wrong("it changes a dict that is already in use");
        for (const Value& item : items) SONDE_TRY(contain(m_stack.back(), item));
        tensor::ValueDict& dict = m_stack.back().dictItems();
        for (std::size_t i = 0; i < items.size(); i += 2) dict.emplace_back(std::move(items[i]), std::move(items[i + 1]));
        return {};
    }

    base::Result<void> setItem() {
        SONDE_ASSIGN(Value value, pop());
        SONDE_ASSIGN(Value key, pop());
        return setItems({std::move(key), std::move(value)});
    }

    base::Result<void> globalLine() {
        SONDE_ASSIGN(const std::string module, line());
        SONDE_ASSIGN(const std::string name, line());
        return push(Value::object(std::make_shared<PickledGlobal>(module + '.' + name)));
    }

    base::Result<void> persistent() {
        SONDE_ASSIGN(const Value id, pop());
        SONDE_ASSIGN(Value value, m_hooks.persistent(id));
        return push(std::move(value));
    }

    base::Result<std::string> globalName(const Value& value) const {
        if (value.kind() == ValueKind::Object) {
            if (const auto* global = dynamic_cast<const PickledGlobal*>(value.object().get())) return global->typeName();
        }
        return wrong("it calls what is no class or function");
    }

    base::Result<void> stackGlobal() {
        SONDE_ASSIGN(const Value name, pop());
        SONDE_ASSIGN(const Value module, pop());
        if (name.kind() != ValueKind::String || module.kind() != ValueKind::String) return wrong("a global without a name");
        return push(Value::object(std::make_shared<PickledGlobal>(module.toString() + '.' + name.toString())));
    }

    base::Result<void> reduce() {
        SONDE_ASSIGN(const Value arguments, pop());
        SONDE_ASSIGN(const Value function, pop());
        SONDE_ASSIGN(const std::string name, globalName(function));
        if (arguments.kind() != ValueKind::Tuple) return wrong("a call without a tuple of arguments");
        SONDE_ASSIGN(std::optional<Value> result, m_hooks.call(name, arguments));
        if (result) return identity(*result) && !m_depth.contains(identity(*result)) ? pushNew(*result, std::span(&arguments, 1)) : push(std::move(*result));
        return pushNew(Value::object(std::make_shared<PickledObject>(name, arguments)), std::span(&arguments, 1));
    }

    base::Result<void> newObject() {
        SONDE_ASSIGN(const Value arguments, pop());
        SONDE_ASSIGN(const Value type, pop());
        SONDE_ASSIGN(const std::string name, globalName(type));
        return pushNew(Value::object(std::make_shared<PickledObject>(name, arguments)), std::span(&arguments, 1));
    }

    base::Result<void> build() {
        SONDE_ASSIGN(Value state, pop());
        if (m_stack.empty()) return wrong("its stack is empty");
        // An ordered dict with attributes keeps its items; they are all that is wanted of it.
        if (m_stack.back().kind() != ValueKind::Object) return {};
        auto* object = dynamic_cast<PickledObject*>(m_stack.back().object().get());
        if (!object || !m_open.contains(object)) return wrong("it sets the state of what is no new instance");
        SONDE_TRY(contain(m_stack.back(), state));
        object->state = std::move(state);
        return {};
    }

    std::span<const std::byte> m_bytes;
    const PickleHooks& m_hooks;
    std::string_view m_place;
    std::size_t m_position = 0;
    std::size_t m_opStart = 0;
    std::vector<Value> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::size_t, Value> m_memo;
    std::unordered_map<const void*, int> m_depth;  ///< of each container: how deep its contents nest
    std::unordered_set<const void*> m_open;        ///< containers that are still being filled
    ValueList m_kept;
};

}  // namespace

base::Result<Value> readPickle(std::span<const std::byte> bytes, const PickleHooks& hooks, std::string_view place,
                               std::size_t* sizeBytes) {
    Machine machine(bytes, hooks, place);
    auto value = machine.run();
    if (sizeBytes) *sizeBytes = machine.position();
    return value;
}

}  // namespace sonde::io
