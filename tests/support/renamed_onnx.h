#pragma once

#include <functional>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <string_view>

namespace sonde::test {

/// An ONNX file in which every node, initializer and value inside the graph has a number for its name, as a converter
/// writes them. Inputs and outputs of the model keep theirs; value_info is left out.
class RenamedOnnx {
  public:
    static std::string of(std::string_view model) {
        RenamedOnnx renamed;
        return rewritten(model, [&renamed](auto tag, std::string_view field, std::string& to) {
            if (tag != 7) return false;
            renamed.keep(field);
            to = renamed.graph(field);
            return true;
        });
    }

    /// A message with some of its fields of bytes in another form.
    static std::string rewritten(std::string_view message,
                                 const std::function<bool(unsigned, std::string_view, std::string&)>& change) {
        std::string bytes;
        protozero::pbf_writer writer(bytes);
        protozero::pbf_reader reader(message.data(), message.size());
        while (reader.next()) {
            const auto tag = reader.tag();
            switch (reader.wire_type()) {
                case protozero::pbf_wire_type::varint: writer.add_uint64(tag, reader.get_uint64()); break;
                case protozero::pbf_wire_type::fixed64: writer.add_fixed64(tag, reader.get_fixed64()); break;
                case protozero::pbf_wire_type::fixed32: writer.add_fixed32(tag, reader.get_fixed32()); break;
                default: {
                    const auto view = reader.get_view();
                    const std::string_view field(view.data(), view.size());
                    std::string changed;
                    if (!change(tag, field, changed)) changed = field;
                    else if (changed.empty() && !field.empty()) break;  // left out
                    writer.add_bytes(tag, changed);
                }
            }
        }
        return bytes;
    }

  private:
    void keep(std::string_view graph) {
        (void)rewritten(graph, [this](auto tag, std::string_view field, std::string&) {
            if (tag != 11 && tag != 12) return false;
            (void)rewritten(field, [this](auto inner, std::string_view name, std::string&) {
                if (inner == 1) m_names.try_emplace(std::string(name), std::string(name));
                return false;
            });
            return false;
        });
    }

    const std::string& nameOf(std::string_view name) {
        const auto [entry, isNew] = m_names.try_emplace(std::string(name));
        if (isNew && !name.empty()) entry->second = std::to_string(m_names.size());
        return entry->second;
    }

    std::string withName(std::string_view message, unsigned nameTag) {
        return rewritten(message, [this, nameTag](auto tag, std::string_view field, std::string& to) {
            if (tag != nameTag) return false;
            to = nameOf(field);
            return true;
        });
    }

    std::string graph(std::string_view message) {
        return rewritten(message, [this](auto tag, std::string_view field, std::string& to) {
            switch (tag) {
                case 1: to = node(field); return true;
                case 5: to = withName(field, 8); return true;
                case 11:
                case 12: to = withName(field, 1); return true;
                case 13: return true;
                default: return false;
            }
        });
    }

    std::string node(std::string_view message) {
        return rewritten(message, [this](auto tag, std::string_view field, std::string& to) {
            switch (tag) {
                case 1:
                case 2: to = nameOf(field); return true;
                case 3: to = "n" + std::to_string(++m_nodes); return true;
                case 5: to = attribute(field); return true;
                case 6: return true;
                default: return false;
            }
        });
    }

    std::string attribute(std::string_view message) {
        return rewritten(message, [this](auto tag, std::string_view field, std::string& to) {
            if (tag != 6 && tag != 11) return false;
            to = graph(field);
            return true;
        });
    }

    std::map<std::string, std::string> m_names;
    int m_nodes = 0;
};

}  // namespace sonde::test
