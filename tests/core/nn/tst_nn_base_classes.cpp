// Layers of loaded modules are found by their base classes: core/trace has a table of these, as files know only names.

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

#include <map>

#include "core/nn/activation.h"
#include "core/nn/conv.h"
#include "core/nn/loss.h"
#include "core/nn/padding.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/query.h"

namespace tst_nn_base_classes {

using namespace sonde;
using Classes = std::map<QString, QString>;  ///< a class → the one that it derives from

namespace {

QString sourceText(const QString& path) {
    QFile file(QStringLiteral(SONDE_SOURCE_DIR "/") + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Those that headers of core/nn define. A template has no name of its own in files, but those of its aliases.
Classes definedClasses() {
    static const QRegularExpression comment(QStringLiteral("//[^\n]*"));
    static const QRegularExpression definition(QStringLiteral(
        R"((template\s*<[^>]*>\s*)?\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(\w+)\s*\{)"));
    static const QRegularExpression alias(QStringLiteral(R"(\busing\s+(\w+)\s*=\s*(\w+)\s*<)"));
    Classes classes, templates;
    QString all;
    const QDir folder(QStringLiteral(SONDE_SOURCE_DIR "/core/nn"));
    for (const QString& name : folder.entryList({QStringLiteral("*.h")}))
        all += sourceText(QStringLiteral("core/nn/") + name).remove(comment);
    for (auto found = definition.globalMatch(all); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        (match.captured(1).isEmpty() ? classes : templates)[match.captured(2)] = match.captured(3);
    }
    for (auto found = alias.globalMatch(all); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        const auto made = templates.find(match.captured(2));
        if (made != templates.end()) classes[match.captured(1)] = made->second;
    }
    std::erase_if(classes, [](const auto& entry) {
        return entry.second == QStringLiteral("Layer") || entry.second == QStringLiteral("Module");
    });
    return classes;
}

Classes tableOfClasses() {
    static const QRegularExpression row(QStringLiteral(R"re(\{"(\w+)", "(\w+)"\},)re"));
    Classes classes;
    for (auto found = row.globalMatch(sourceText(QStringLiteral("core/trace/traced_module/query.cpp")));
         found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        classes[match.captured(1)] = match.captured(2);
    }
    return classes;
}

QStringList listed(const Classes& classes, const Classes& without) {
    QStringList rows;
    for (const auto& [name, base] : classes) {
        const auto same = without.find(name);
        if (same == without.end() || same->second != base) rows << name + QStringLiteral(": ") + base;
    }
    return rows;
}

/// A built-in layer as a file gives it.
std::shared_ptr<trace::TracedModule> loaded(const char* className) {
    auto module = std::make_shared<trace::TracedModule>(className, std::vector<trace::ForwardParameter>(), false);
    module->setBuiltin(true);
    return module;
}

}  // namespace

class TestNnBaseClasses : public QObject {
    Q_OBJECT

  private slots:
    void theTableHasTheClassesOfTheHeaders() {
        const Classes defined = definedClasses(), table = tableOfClasses();
        QVERIFY(defined.size() > 80);
        QCOMPARE(listed(defined, table), QStringList());
        QCOMPARE(listed(table, defined), QStringList());
    }

    void layersAreFoundByTheirBases() {
        const auto gelu = loaded("GELU"), pad = loaded("ReflectionPad2d"), loss = loaded("PoissonNLLLoss");
        QVERIFY(trace::wasBuiltAs(*gelu, typeid(nn::GELU)));
        QVERIFY(trace::wasBuiltAs(*gelu, typeid(nn::ActivationLayer)));
        QVERIFY(!trace::wasBuiltAs(*gelu, typeid(nn::ReLU)));
        QVERIFY(trace::wasBuiltAs(*loss, typeid(nn::PlainLoss)));
        QVERIFY(trace::wasBuiltAs(*loss, typeid(nn::Loss)));
        QVERIFY(trace::wasBuiltAs(*pad, typeid(nn::ReflectionPad2d)));
        QVERIFY(trace::wasBuiltAs(*pad, typeid(nn::PadLayer)));
        QVERIFY(!trace::wasBuiltAs(*pad, typeid(nn::ReflectionPad3d)));
        QVERIFY(!trace::wasBuiltAs(*pad, typeid(nn::ZeroPad2d)));
        QVERIFY(!trace::wasBuiltAs(*pad, typeid(nn::ConvLayer)));
    }
};

QTEST_GUILESS_MAIN(TestNnBaseClasses)

}  // namespace tst_nn_base_classes

#include "tst_nn_base_classes.moc"
