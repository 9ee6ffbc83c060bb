#pragma once

#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "tests/support/script_archive.h"

namespace sonde::test {

/// A model whose forward has this body (indented by four), and what else its file holds.
inline std::string model(const std::string& body, const std::string& result = "Tensor",
                         const std::string& attributes = {}, const std::string& behind = {}) {
    return "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + attributes +
           "  def forward(self: __torch__.M,\n    x: Tensor) -> " + result + ":\n" + body + behind;
}

class Script {
  public:
    explicit Script(const std::string& source, const std::string& attributes = {}, test::Records more = {}) {
        const std::string path = m_folder.filePath("m.pt").toStdString();
        test::writeScript(path, source, attributes, std::move(more));
        opened = document::open(path);
    }
    /// Runs on x = values (one dimension).
    exec::Recording run(const std::vector<float>& values, std::stop_token stop = {}) const {
        const auto plan = exec::Plan::make((*opened)->graph, {});
        exec::Runner runner(1);
        const tensor::Tensor x = tensor::Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
        base::WorkContext work;
        work.stop = stop;
        return runner.run(**plan, std::vector<tensor::Value>{tensor::Value(x)}, work);
    }

    base::Result<std::shared_ptr<const document::Document>> opened = base::unreadable("not opened");

  private:
    QTemporaryDir m_folder;
};

/// The outputs' numbers, or the error.
inline QString numbers(const exec::Recording& recording) {
    if (recording.error) return QString::fromStdString(recording.error->text());
    QStringList parts;
    const std::function<void(const tensor::Value&)> add = [&](const tensor::Value& value) {
        if (value.isTensor()) {
            for (std::int64_t i = 0; i < value.tensor().numel(); ++i)
                parts << QString::number(value.tensor().toDouble(i));
        } else if (value.isListLike()) {
            for (const tensor::Value& item : value.items()) add(item);
        } else if (value.kind() == tensor::ValueKind::Dict) {
            for (const auto& [key, item] : value.dictItems()) add(item);
        } else {
            parts << QString::fromStdString(value.text());
        }
    };
    for (const tensor::Value& output : recording.outputs) add(output);
    return parts.join(' ');
}

}  // namespace sonde::test
