// The table of export options: every row can be read and set, and says what the command line says.

#include <QtTest>

#include <set>

#include "core/export/export_options.h"

namespace tst_export_options {

using namespace sonde;
using namespace sonde::exporting;

class TestExportOptions : public QObject {
    Q_OBJECT

  private slots:
    void everyRowIsWhole_data() { addOptions(); }
    void everyRowIsWhole();
    void valuesGoThereAndBack_data() { addOptions(); }
    void valuesGoThereAndBack();
    void groupsFollowEachOther();
    void defaultsAreThoseOfTheReference();
    void spellingsAreThoseOfTheCommandLine();
    void wrongValuesAreRefused_data();
    void wrongValuesAreRefused();
    void inferenceOptions();

  private:
    static void addOptions() {
        QTest::addColumn<int>("row");
        for (std::size_t i = 0; i < exportOptions().size(); ++i)
            QTest::newRow(std::string(exportOptions()[i].name).c_str()) << static_cast<int>(i);
    }
};

void TestExportOptions::everyRowIsWhole() {
    QFETCH(int, row);
    const ExportOption& option = exportOptions()[static_cast<std::size_t>(row)];
    QVERIFY(!option.name.empty() && !option.group.empty() && !option.label.empty() && !option.help.empty());
    QVERIFY(!option.formats.empty() && option.field);
    QCOMPARE(findExportOption(option.name), &option);
    // What a person reads has no full stop, as tool tips and help texts have none.
    for (const std::string_view text : {option.label, option.help, option.details}) QVERIFY(!text.ends_with('.'));
    if (!option.needs.empty()) {
        const ExportOption* other = findExportOption(option.needs);
        QVERIFY(other && (other->isSwitch() || other->isList()));
        for (const ExportFormat format : option.formats) QVERIFY(other->isFor(format));
    }
    // A value is one of the choices.
    ExportSettings settings;
    QVERIFY(option.set(settings, option.defaultText()).has_value());
    QVERIFY(option.set(settings, option.offText()).has_value());
}

void TestExportOptions::valuesGoThereAndBack() {
    QFETCH(int, row);
    const ExportOption& option = exportOptions()[static_cast<std::size_t>(row)];
    std::vector<std::string> values{option.defaultText()};
    for (const OptionChoice& choice : option.choices) values.emplace_back(choice.value);
    if (option.isSwitch()) values = {"true", "false"};
    else if (option.isList()) values.emplace_back(option.oneEach ? "[1,2,3]\n#rand(0,1)" : "a,b");
    else if (option.isNumber() && option.choices.empty() && option.max > option.min)
        values.push_back(std::to_string(static_cast<long>(option.min) + 1));
    else if (option.choices.empty() && !option.isNumber()) values.emplace_back("data / np.std(data), \"x\"");
    for (const std::string& value : values) {
        ExportSettings settings;
        QVERIFY2(option.set(settings, value).has_value(), value.c_str());
        QCOMPARE(option.text(settings), value);
        // No other option has changed.
        for (const ExportOption& other : exportOptions())
            if (&other != &option) QCOMPARE(other.text(settings), other.defaultText());
    }
}

void TestExportOptions::groupsFollowEachOther() {
    std::set<std::string_view> seen, names;
    std::string_view last;
    for (const ExportOption& option : exportOptions()) {
        QVERIFY2(names.insert(option.name).second, "two options of one name");
        if (option.group == last) continue;
        QVERIFY2(seen.insert(option.group).second, std::string(option.group).c_str());
        last = option.group;
    }
    QVERIFY(seen.size() >= 5);
}

/// b2 and b3 of the reference page on dumps.
void TestExportOptions::defaultsAreThoseOfTheReference() {
    const std::vector<std::pair<const char*, const char*>> defaults{{"append", "false"},
                                                                    {"arg-names", ""},
                                                                    {"output-names", ""},
                                                                    {"keep-var-name", "1"},
                                                                    {"keep-opr-name", "false"},
                                                                    {"keep-param-name", "false"},
                                                                    {"strip-info-file", ""},
                                                                    {"append-json", "false"},
                                                                    {"optimize-for-inference", "true"},
                                                                    {"user-info", ""},
                                                                    {"metadata", "true"},
                                                                    {"input-data", ""},
                                                                    {"repeat", "1"},
                                                                    {"silent", "false"},
                                                                    {"no-assert", "false"},
                                                                    {"resize-input", "false"},
                                                                    {"input-transform", ""},
                                                                    {"model-version", "2"},
                                                                    {"layout", ""},
                                                                    {"enable_fuse_grain", "true"},
                                                                    {"enable_io16xc32", "false"},
                                                                    {"enable_ioc16", "false"},
                                                                    {"enable_fuse_conv_bias_with_z", "false"},
                                                                    {"enable_fuse_conv_bias_nonlinearity", "false"}};
    for (const auto& [name, value] : defaults) {
        const ExportOption* option = findExportOption(name);
        QVERIFY2(option, name);
        QCOMPARE(option->defaultText(), std::string(value));
        QVERIFY(option->isFor(ExportFormat::Dump));
    }
    QCOMPARE(ExportSettings().dump.maxError, 1e-4);
}

void TestExportOptions::spellingsAreThoseOfTheCommandLine() {
    const std::vector<std::pair<const char*, const char*>> spellings{
        {"optimize-for-inference", "--no-optimize-for-inference"},
        {"metadata", "--no-metadata"},
        {"no-assert", "--no-assert"},
        {"keep-var-name", "--keep-var-name"},
        {"enable_fuse_grain", "--option enable_fuse_grain"},
        {"layout", "--option enable_LAYOUT"},
        {"pass", "--pass"}};
    for (const auto& [name, spelled] : spellings) QCOMPARE(findExportOption(name)->spelled(), std::string(spelled));
}

void TestExportOptions::wrongValuesAreRefused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("value");
    QTest::newRow("choice") << "keep-var-name"
                            << "3";
    QTest::newRow("layout") << "layout"
                            << "nchw16";
    QTest::newRow("switch") << "silent"
                            << "yes";
    QTest::newRow("no number") << "repeat"
                               << "two";
    QTest::newRow("half a number") << "repeat"
                                   << "2.5";
    QTest::newRow("too small") << "repeat"
                               << "0";
    QTest::newRow("too large") << "repeat"
                               << "99999999999";
    QTest::newRow("version") << "model-version"
                             << "-1";
    QTest::newRow("not a number") << "maxerr"
                                  << "nan";
    QTest::newRow("negative") << "maxerr"
                              << "-1";
}

void TestExportOptions::wrongValuesAreRefused() {
    QFETCH(QString, name);
    QFETCH(QString, value);
    const ExportOption* option = findExportOption(name.toStdString());
    QVERIFY(option);
    ExportSettings settings;
    const auto set = option->set(settings, value.toStdString());
    QVERIFY(!set);
    QCOMPARE(set.error().kind, base::ErrorKind::Usage);
    QVERIFY2(set.error().where.find(name.toStdString()) != std::string::npos || name == "layout",
             set.error().where.c_str());
    QCOMPARE(option->text(settings), option->defaultText());
}

void TestExportOptions::inferenceOptions() {
    ExportSettings settings;
    const std::vector<std::string> wanted{"enable_nchw88", "enable_fuse_grain=false"};
    const auto warnings = setInferenceOptions(settings, wanted);
    QVERIFY(warnings && warnings->empty());
    QCOMPARE(findExportOption("layout")->text(settings), std::string("nchw88"));
    QCOMPARE(findExportOption("enable_fuse_grain")->text(settings), std::string("false"));
    const std::vector<std::string> second{"enable_nchw4"}, unknown{"enable_magic"}, odd{"enable_fuse_grain=1"};
    QVERIFY(!setInferenceOptions(settings, second));
    QVERIFY(!setInferenceOptions(settings, unknown));
    QVERIFY(!setInferenceOptions(settings, odd));
    settings.dump.optimize = false;
    const auto left = setInferenceOptions(settings, unknown);
    QVERIFY(left && left->size() == 1);
}

QTEST_GUILESS_MAIN(TestExportOptions)

}  // namespace tst_export_options

#include "tst_export_options.moc"
