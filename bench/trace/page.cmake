# page.cmake — puts style and scripts into the page of pat-report: cmake -DPAGE=... -DCHART_JS=... -DTO=... -P page.cmake
file(READ "${PAGE}/report.html" page)
foreach(part IN ITEMS report.css report.js words.js)
  file(READ "${PAGE}/${part}" text)
  string(REPLACE "@${part}@" "${text}" page "${page}")
endforeach()
file(READ "${CHART_JS}" text)
string(REPLACE "@chart.js@" "${text}" page "${page}")
file(WRITE "${TO}" "${page}")
