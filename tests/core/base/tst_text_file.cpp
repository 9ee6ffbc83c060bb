// Text that is read whole never takes more than its limit, and files that take another's place destroy no device.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <sys/stat.h>

#include "core/base/replaced_file.h"
#include "core/base/text_file.h"

namespace tst_text_file {

using namespace sonde;
namespace fs = std::filesystem;

class TestTextFile : public QObject {
    Q_OBJECT

  private slots:
    void textIsReadWithoutItsMark() {
        const fs::path path = write("marked",
                                    "\xEF\xBB\xBF"
                                    "a\nb");
        QCOMPARE(*base::readText(path, "the list"), std::string("a\nb"));
        QCOMPARE(*base::readText(write("empty", ""), "the list"), std::string());
    }

    void textHasALimit() {
        QCOMPARE(*base::readText(write("four", "abcd"), "the list", 4), std::string("abcd"));
        const auto five = base::readText(write("five", "abcde"), "the list", 4);
        QVERIFY(!five);
        const auto endless = base::readText("/dev/zero", "the list", std::size_t{1} << 20);
        QVERIFY(!endless);
        QCOMPARE(endless.error().what, std::string("the list is longer than 1 MiB"));
        QCOMPARE(endless.error().where, std::string("/dev/zero"));
        QVERIFY(!base::readText(folder(), "the list"));
        QVERIFY(!base::readText(folder() / "none", "the list"));
    }

    void filesTakeThePlaceOfFilesOnly() {
        const fs::path file = write("file", "x"), link = folder() / "link", fresh = folder() / "fresh";
        fs::create_symlink(file, link);
        QCOMPARE(*base::placeToReplace(file), file);
        QCOMPARE(*base::placeToReplace(fresh), fresh);
        QCOMPARE(*base::placeToReplace(link), fs::canonical(file));
        const fs::path pipe = folder() / "pipe";
        QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
        const auto refused = base::placeToReplace(pipe);
        QVERIFY(!refused);
        QCOMPARE(refused.error().where, pipe.string());
        QVERIFY(!base::placeToReplace("/dev/null"));
        QVERIFY(!base::placeToReplace(folder()));
    }

  private:
    fs::path folder() const { return m_folder.path().toStdString(); }
    fs::path write(const char* name, std::string_view text) const {
        std::ofstream(folder() / name, std::ios::binary) << text;
        return folder() / name;
    }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestTextFile)

}  // namespace tst_text_file

#include "tst_text_file.moc"
