#pragma once

#include "core/session/report/report.h"
#include "ui/report/page_flow.h"
#include "ui/theme/color_role.h"

namespace sonde::report {

/// Units of the pages: a tenth of a point.
inline constexpr double kPoint = 10;

enum class PageFont { Title, Heading, Subheading, Body, Bold, Small };
QFont pageFont(PageFont font);

/// Paper is light.
QColor pageInk(theme::ColorRole role);

/// Puts a section's blocks onto pages.
class BlocksPainter {
  public:
    explicit BlocksPainter(PageFlow& flow) : m_flow(flow) {}

    void operator()(const session::ReportText& block) const;
    void operator()(const session::ReportTable& block) const;
    void operator()(const session::ReportChart& block) const;
    void operator()(const session::ReportPicture& block) const;
    void operator()(const session::ReportFindings& block) const;

    /// A heading stays on the page of what it is of.
    void heading(const QString& text, PageFont font) const;

  private:
    void note(const std::string& text) const;
    void finding(const session::ReportFinding& finding) const;

    PageFlow& m_flow;
};

/// Tables: columns as wide as they need, rows over several pages, with the head on each.
void addTable(PageFlow& flow, const session::ReportTable& table);

/// Control characters are made visible.
QString pageText(const std::string& text);

}  // namespace sonde::report
