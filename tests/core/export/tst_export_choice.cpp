// Choices of an export as text and JSON, presets, and the steps of a preview.

#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/export/export_choice.h"

namespace tst_export_choice {

using namespace sonde;
using namespace sonde::exporting;

namespace {

ExportChoice choiceWith(ExportFormat format, const std::vector<std::pair<std::string, std::string>>& values) {
    ExportChoice choice{format, {}};
    for (const auto& [name, value] : values)
        if (!choice.set(name, value)) return ExportChoice{ExportFormat::TracedModule, {}};
    return choice;
}

}  // namespace

class TestExportChoice : public QObject {
    Q_OBJECT

  private slots:
    void jsonHasWhatIsNotTheDefault();
    void jsonGoesThereAndBack();
    void wrongJsonIsRefused_data();
    void wrongJsonIsRefused();
    void theCommandLineSaysTheSame();
    void optionsAreSpelledAsOnTheCommandLine();
    void wrongSpellingsAreRefused_data();
    void wrongSpellingsAreRefused();
    void presetsAreValid();
    void aPresetLeavesNamesAlone();
    void stepsAddOneOptionEach();
    void stepsWithoutOptimisation();
};

void TestExportChoice::jsonHasWhatIsNotTheDefault() {
    const ExportChoice choice = choiceWith(ExportFormat::Dump, {{"layout", "nchw88"},
                                                                {"arg-names", "data,mask"},
                                                                {"maxerr", "0.01"},
                                                                {"metadata", "false"},
                                                                {"keep-var-name", "2"}});
    QCOMPARE(nlohmann::json::parse(toJson(choice)),
             nlohmann::json::parse(R"({"format": "dump", "options": {"layout": "nchw88", "arg-names": ["data", "mask"],
                                      "maxerr": 0.01, "metadata": false, "keep-var-name": 2}})"));
    QCOMPARE(toJson({ExportFormat::Onnx, {}}), std::string(R"({"format":"onnx","options":{}})"));
}

void TestExportChoice::jsonGoesThereAndBack() {
    const ExportChoice choice = choiceWith(ExportFormat::Dump, {{"input-data", "[1,2]\n@cases.txt"},
                                                                {"user-info", "line \"1\"\nline 2"},
                                                                {"enable_io16xc32", "true"},
                                                                {"repeat", "3"},
                                                                {"opt-level", "0"}});
    const auto back = exportChoiceFrom(toJson(choice));
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QVERIFY(*back == choice);
    QCOMPARE(back->settings.inputData, (std::vector<std::string>{"[1,2]", "@cases.txt"}));
    QCOMPARE(back->settings.dump.userInfo, std::string("line \"1\"\nline 2"));
    QCOMPARE(back->settings.dump.input.repeat, 3);
    const auto onnx = exportChoiceFrom(R"({"format": "onnx", "options": {"pass": ["fuse-conv-bn"], "ir-version": 9}})");
    QVERIFY(onnx.has_value());
    QCOMPARE(onnx->settings.passes, std::vector<std::string>{"fuse-conv-bn"});
    QCOMPARE(onnx->settings.onnx.irVersion, std::int64_t(9));
    QVERIFY(!(*onnx == ExportChoice{ExportFormat::Onnx, {}}));
    // An option of another format is no difference.
    ExportChoice other{ExportFormat::Onnx, {}};
    other.settings.append = true;
    QVERIFY(other == (ExportChoice{ExportFormat::Onnx, {}}));
}

void TestExportChoice::wrongJsonIsRefused_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("said");
    QTest::newRow("nothing") << QByteArray() << "format";
    QTest::newRow("list") << QByteArray("[]") << "format";
    QTest::newRow("no format") << QByteArray(R"({"options": {}})") << "format";
    QTest::newRow("format") << QByteArray(R"({"format": "gguf"})") << "gguf";
    QTest::newRow("key") << QByteArray(R"({"format": "dump", "option": {}})") << "option";
    QTest::newRow("options") << QByteArray(R"({"format": "dump", "options": []})") << "options";
    QTest::newRow("unknown") << QByteArray(R"({"format": "dump", "options": {"fast": true}})") << "fast";
    QTest::newRow("of another format") << QByteArray(R"({"format": "onnx", "options": {"layout": "nchw88"}})")
                                       << "layout";
    QTest::newRow("type") << QByteArray(R"({"format": "dump", "options": {"silent": 1}})") << "silent";
    QTest::newRow("text") << QByteArray(R"({"format": "dump", "options": {"maxerr": "1"}})") << "maxerr";
    QTest::newRow("items") << QByteArray(R"({"format": "dump", "options": {"arg-names": [1]}})") << "arg-names";
    QTest::newRow("comma") << QByteArray(R"({"format": "dump", "options": {"arg-names": ["a,b"]}})") << "arg-names";
    QTest::newRow("choice") << QByteArray(R"({"format": "dump", "options": {"layout": "nchw16"}})") << "nchw16";
    QTest::newRow("fraction") << QByteArray(R"({"format": "dump", "options": {"repeat": 1.5}})") << "1.5";
    QTest::newRow("range") << QByteArray(R"({"format": "onnx", "options": {"ir-version": 3}})") << "3";
}

void TestExportChoice::wrongJsonIsRefused() {
    QFETCH(QByteArray, json);
    QFETCH(QString, said);
    const auto choice = exportChoiceFrom(json.toStdString());
    QVERIFY(!choice);
    QCOMPARE(choice.error().kind, base::ErrorKind::Usage);
    QVERIFY2(QString::fromStdString(choice.error().text()).contains(said), choice.error().text().c_str());
}

void TestExportChoice::theCommandLineSaysTheSame() {
    const ExportChoice choice = choiceWith(ExportFormat::Dump, {{"layout", "nchw88"},
                                                                {"enable_fuse_grain", "false"},
                                                                {"optimize-for-inference", "true"},
                                                                {"metadata", "false"},
                                                                {"arg-names", "a,b"},
                                                                {"user-info", "it's"},
                                                                {"input-data", "[1,2]\n#rand(0,1)"}});
    QCOMPARE(commandLineOf(choice, "my net.onnx", "net.dump"),
             std::string("sonde dump 'my net.onnx' -o net.dump --option enable_fuse_grain=false --option enable_nchw88 "
                         "--arg-names a,b --input-data '[1,2]' --input-data '#rand(0,1)' --no-metadata "
                         "--user-info 'it'\\''s'"));
    QCOMPARE(
        commandLineOf(choiceWith(ExportFormat::Onnx, {{"pass", "fuse-conv-bn,fold-constant"}}), "zoo:seed", "seed.onnx",
                      "[3]"),
        std::string("sonde save zoo:seed -o seed.onnx --input-data '[3]' --pass fuse-conv-bn --pass fold-constant"));
    document::OpenOptions options;
    options.tracer = "robust";
    options.leaves = {"Block"};
    options.passes = {"fuse-conv-bn"};
    QCOMPARE(commandLineOf({}, "zoo:seed", "seed.dump", "[3]", options),
             std::string("sonde dump zoo:seed --tracer robust --leaf Block --pass fuse-conv-bn -o seed.dump"));
    QCOMPARE(commandLineOf({ExportFormat::TracedModule, {}}, "zoo:seed", "seed.sondetm"),
             std::string("sonde trace zoo:seed --tracer traced-module --save seed.sondetm"));
}

void TestExportChoice::optionsAreSpelledAsOnTheCommandLine() {
    ExportChoice choice{ExportFormat::Dump, {}};
    for (const char* word : {"enable_nchw44", "enable_nchw88=true", "enable_nchw32=false", "--option=enable_io16xc32",
                             "no-metadata", "--no-assert", "maxerr=0.5"}) {
        const auto done = choice.setSpelled(word);
        QVERIFY2(done.has_value(), done ? "" : done.error().text().c_str());
    }
    QVERIFY(choice == choiceWith(ExportFormat::Dump, {{"layout", "nchw88"},
                                                      {"enable_io16xc32", "true"},
                                                      {"metadata", "false"},
                                                      {"no-assert", "true"},
                                                      {"maxerr", "0.5"}}));
    QVERIFY(choice.setSpelled("enable_nchw88=false"));
    QCOMPARE(choice.settings.dump.inference.layout, std::string());
    // All that the command line of a choice says after --option.
    for (const ExportPreset& preset : exportPresets()) {
        if (preset.format != ExportFormat::Dump) continue;  // others have lists, which take all their items at once
        const ExportChoice whole = withPreset({preset.format, {}}, preset);
        ExportChoice again{preset.format, {}};
        const std::vector<std::string> words = argumentsOf(whole);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const bool hasValue = i + 1 < words.size() && !words[i + 1].starts_with("--");
            const std::string word = hasValue ? words[i] + '=' + words[i + 1] : words[i];
            const auto done = again.setSpelled(word);
            QVERIFY2(done.has_value(), word.c_str());
            i += hasValue ? 1 : 0;
        }
        QVERIFY2(again == whole, preset.id.data());
    }
}

void TestExportChoice::wrongSpellingsAreRefused_data() {
    QTest::addColumn<QByteArray>("word");
    QTest::addColumn<QString>("said");
    QTest::newRow("unknown") << QByteArray("enable_magic") << "has no option 'enable_magic'";
    QTest::newRow("no bool") << QByteArray("enable_nchw88=yes") << "'enable_nchw88=yes' is neither true nor false";
    QTest::newRow("no value") << QByteArray("maxerr") << "the option needs a value";
    QTest::newRow("no switch") << QByteArray("no-maxerr") << "the option needs a value";
    QTest::newRow("another format's") << QByteArray("ir-version=9") << "has no option 'ir-version'";
}

void TestExportChoice::wrongSpellingsAreRefused() {
    QFETCH(QByteArray, word);
    QFETCH(QString, said);
    ExportChoice choice{ExportFormat::Dump, {}};
    const auto done = choice.setSpelled(word.toStdString());
    QVERIFY(!done);
    QVERIFY2(done.error().what.find(said.toStdString()) != std::string::npos, done.error().text().c_str());
    QVERIFY(choice == (ExportChoice{ExportFormat::Dump, {}}));
}

void TestExportChoice::presetsAreValid() {
    for (const ExportPreset& preset : exportPresets()) {
        QVERIFY(!preset.name.empty() && !preset.help.empty());
        QCOMPARE(findExportPreset(preset.format, preset.id), &preset);
        const ExportChoice choice = withPreset({preset.format, {}}, preset);
        QCOMPARE(choice.format, preset.format);
        for (const auto& [name, value] : preset.values) {
            const ExportOption* option = findExportOption(name);
            QVERIFY2(option && option->isFor(preset.format), std::string(name).c_str());
            QCOMPARE(option->text(choice.settings), std::string(value));
        }
        QCOMPARE(presetOf(choice), &preset);
    }
    for (const ExportFormatInfo& format : exportFormats()) QVERIFY(findExportPreset(format.format, "as-it-is"));
    QVERIFY(!findExportPreset(ExportFormat::Onnx, "half"));
}

void TestExportChoice::aPresetLeavesNamesAlone() {
    ExportChoice choice =
        choiceWith(ExportFormat::Dump, {{"arg-names", "data"}, {"layout", "nchw88"}, {"keep-opr-name", "true"}});
    QVERIFY(!presetOf(choice));
    choice = withPreset(choice, *findExportPreset(ExportFormat::Dump, "half"));
    QCOMPARE(choice.settings.dump.argNames, std::vector<std::string>{"data"});
    QVERIFY(choice.settings.dump.names.operations);
    QVERIFY(choice.settings.dump.inference.io16xc32);
    QCOMPARE(choice.settings.dump.inference.layout, std::string());
    QCOMPARE(choice.settings.dump.maxError, 0.01);
    choice = withPreset(choice, *findExportPreset(ExportFormat::Dump, "as-it-is"));
    QVERIFY(!choice.settings.dump.optimize && !choice.settings.dump.inference.io16xc32);
    QCOMPARE(choice.settings.dump.maxError, 1e-4);
    QCOMPARE(presetOf(choice)->id, std::string_view("as-it-is"));
}

void TestExportChoice::stepsAddOneOptionEach() {
    const ExportChoice choice =
        choiceWith(ExportFormat::Dump, {{"layout", "nchw88"}, {"enable_io16xc32", "true"}, {"arg-names", "data"}});
    const std::vector<ExportStep> steps = exportSteps(choice);
    std::vector<std::string> labels;
    for (const ExportStep& step : steps) {
        labels.push_back(step.label);
        QCOMPARE(step.choice.settings.dump.argNames, std::vector<std::string>{"data"});
    }
    QCOMPARE(labels, (std::vector<std::string>{"As it is", "Optimise for inference", "Arithmetic: 2",
                                               "Fuse small operations", "Layout: nchw88", "Values in float16"}));
    QVERIFY(!steps.front().choice.settings.dump.optimize);
    QVERIFY(steps[1].choice.settings.dump.optimize && steps[1].choice.settings.dump.optLevel == 0);
    QVERIFY(!steps[2].choice.settings.dump.inference.fuseGrain);
    QVERIFY(!steps[4].choice.settings.dump.inference.io16xc32);
    QVERIFY(steps.back().choice == choice);
}

void TestExportChoice::stepsWithoutOptimisation() {
    ExportChoice choice = choiceWith(ExportFormat::Dump, {{"optimize-for-inference", "false"}, {"layout", "nchw88"}});
    std::vector<ExportStep> steps = exportSteps(choice);
    QCOMPARE(steps.size(), std::size_t(1));
    QVERIFY(steps.front().choice == choice);
    choice = choiceWith(ExportFormat::Onnx, {{"pass", "fuse-conv-bn"}, {"ir-version", "9"}});
    steps = exportSteps(choice);
    QCOMPARE(steps.size(), std::size_t(2));
    QVERIFY(steps.front().choice.settings.passes.empty());
    QCOMPARE(steps.back().label, std::string("Passes: fuse-conv-bn"));
}

QTEST_GUILESS_MAIN(TestExportChoice)

}  // namespace tst_export_choice

#include "tst_export_choice.moc"
