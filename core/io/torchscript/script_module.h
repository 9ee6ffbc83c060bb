#pragma once

#include <memory>
#include <string>

#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/script_value.h"
#include "core/trace/module.h"

namespace sonde::io::script {

/// A module of an archive: its class's code runs in the interpreter, on values or on proxies, so that every tracer
/// works on it. Classes below torch.nn are the library's, and thus leaves, but for Sequential.
class ScriptModule final : public trace::Module {
  public:
    ScriptModule(std::shared_ptr<Archive> archive, std::string typeName, const ClassDef& type);

    std::string className() const override { return m_type.name; }
    bool isLibrary() const override;
    bool makesTensor() const override;
    std::vector<trace::ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;
    std::function<Var(std::span<const Var>)> forwardFunction() override;
    std::string forwardName() const override { return m_method; }
    Var callForward(std::string_view method, std::vector<Var> arguments, trace::Keywords keywords) override;

    /// Calls forward, forward1 …: a module call, seen by tracers.
    ScriptValue callForward(const std::string& method, std::vector<ScriptValue> arguments,
                            std::vector<std::pair<std::string, ScriptValue>> keywords);
    const ClassDef& type() const { return m_type; }
    /// "__torch__.torch.nn.modules.conv.Conv2d".
    const std::string& typeName() const { return m_typeName; }
    const std::shared_ptr<Archive>& archive() const { return m_archive; }
    /// Child, tensor, constant or plain attribute. Throws AttributeError.
    ScriptValue attribute(const std::string& name) const;
    void setAttribute(const std::string& name, ScriptValue value);
    const std::map<std::string, ScriptValue>& attributes() const { return m_attributes; }
    /// Lists, dicts or objects are among the attributes.
    bool holdsObjects() const;

  private:
    const FunctionDef& method(const std::string& name) const;
    /// Methods of the class that the list `list` names: "__forward_hooks__".
    std::vector<const FunctionDef*> hooks(std::string_view list) const;
    /// Runs the function; `arguments` begin with the module. Around forward of the root are its hooks. (Those of a
    /// module below it are called by the archive's own code, where the module is.)
    ScriptValue run(const FunctionDef& function, std::vector<ScriptValue> arguments,
                    const std::vector<std::pair<std::string, ScriptValue>>& keywords = {});

    std::shared_ptr<Archive> m_archive;
    std::string m_typeName;
    const ClassDef& m_type;
    std::map<std::string, ScriptValue> m_attributes;
    std::string m_method = "forward";  ///< which of forward, forward1 … the call that goes on is of
};

/// Whether nothing tells two modules of an archive apart but where they stand: they have one class, the same tensors,
/// children of which this is true as well, equal attributes, and no method that changes any of these attributes. A
/// module that is registered under two names is pickled twice when it is scripted; two modules that share a weight and
/// differ in anything else are two modules.
bool isSameModule(const ScriptModule& a, const ScriptModule& b);

/// The archive's root with everything below it. Errors: classes that the archive lacks, data that fits no class.
base::Result<std::shared_ptr<trace::Module>> makeRootModule(const std::shared_ptr<Archive>& archive);

}  // namespace sonde::io::script
